/* Opens ELF files, compares build ids and reads symbol tables. A symbol table is read and sorted when it is
 * first used. */
#include "command/symbols/elf.h"

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "command/text/grow.h"

#define VDSO_MAX_BYTES (64u * 1024)
/* maximum number of symbols that are checked, going back from an address, to find one that contains it */
#define LOOK_BACK   128
#define MAX_ALIASES 64 /* maximum number of names compared to find the best name of an address */

bool symbols_elf_open(struct symbols_elf *file, const char *path)
{
    struct stat status;
    *file = (struct symbols_elf){.fd = -1};
    /* If the path is a FIFO by now, O_NONBLOCK keeps open() from waiting for a writer. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return false;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode)) {
        elf_version(EV_CURRENT);
        Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
        if (elf && elf_kind(elf) == ELF_K_ELF) {
            *file = (struct symbols_elf){.fd = fd, .elf = elf, .path = path};
            return true;
        }
        elf_end(elf);
    }
    close(fd);
    return false;
}

bool symbols_elf_open_vdso(struct symbols_elf *file)
{
    const GElf_Ehdr *header = (const GElf_Ehdr *)getauxval(AT_SYSINFO_EHDR);
    *file = (struct symbols_elf){.fd = -1};
    if (!header || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64)
        return false;
    /* The image ends with the section headers. It is mapped completely, up to the next page boundary. */
    size_t bytes = header->e_shoff + (size_t)header->e_shnum * header->e_shentsize;
    if (!header->e_shnum || bytes > VDSO_MAX_BYTES)
        return false;
    file->image = malloc(bytes);
    if (!file->image)
        return false;
    memcpy(file->image, header, bytes);
    elf_version(EV_CURRENT);
    file->elf = elf_memory(file->image, bytes);
    file->path = "[vdso]";
    if (!file->elf)
        symbols_elf_close(file);
    return file->elf != NULL;
}

void symbols_elf_close(struct symbols_elf *file)
{
    if (file->elf) {
        elf_end(file->elf);
        if (file->fd >= 0)
            close(file->fd);
    }
    free(file->image);
    *file = (struct symbols_elf){.fd = -1};
}

Elf_Scn *symbols_elf_section(Elf *elf, const char *name, GElf_Shdr *header)
{
    size_t names;
    Elf_Scn *section = NULL;
    if (elf_getshdrstrndx(elf, &names) != 0)
        return NULL;
    while ((section = elf_nextscn(elf, section))) {
        const char *found = gelf_getshdr(section, header) ? elf_strptr(elf, names, header->sh_name) : NULL;
        if (found && strcmp(found, name) == 0)
            return section;
    }
    return NULL;
}

Elf_Scn *symbols_elf_next(Elf *elf, Elf_Scn *section, uint32_t type, GElf_Shdr *header)
{
    while (elf && (section = elf_nextscn(elf, section)))
        if (gelf_getshdr(section, header) && header->sh_type == type)
            return section;
    return NULL;
}

bool symbols_elf_same_build(Elf *elf, const void *build_id, size_t bytes)
{
    const void *found;
    ssize_t found_bytes = dwelf_elf_gnu_build_id(elf, &found);
    return found_bytes > 0 && (size_t)found_bytes == bytes && memcmp(found, build_id, bytes) == 0;
}

bool symbols_elf_code_range(Elf *elf, uint64_t *low, uint64_t *high)
{
    size_t count;
    *low = UINT64_MAX;
    *high = 0;
    if (elf_getphdrnum(elf, &count) != 0)
        return false;
    for (size_t i = 0; i < count && i < 65536; i++) {
        GElf_Phdr segment;
        if (!gelf_getphdr(elf, (int)i, &segment) || segment.p_type != PT_LOAD || !(segment.p_flags & PF_X))
            continue;
        uint64_t end = segment.p_vaddr + segment.p_memsz;
        *low = segment.p_vaddr < *low ? segment.p_vaddr : *low;
        *high = end > *high ? end : *high;
    }
    return *low < *high;
}

const uint8_t *symbols_elf_bytes(Elf *elf, uint64_t vaddr, size_t *room)
{
    size_t count, file_bytes;
    const uint8_t *file = (const uint8_t *)elf_rawfile(elf, &file_bytes);
    if (!file || elf_getphdrnum(elf, &count) != 0)
        return NULL;
    for (size_t i = 0; i < count && i < 65536; i++) {
        GElf_Phdr segment;
        if (!gelf_getphdr(elf, (int)i, &segment) || segment.p_type != PT_LOAD || vaddr < segment.p_vaddr ||
            vaddr - segment.p_vaddr >= segment.p_filesz)
            continue;
        uint64_t offset = vaddr - segment.p_vaddr;
        if (segment.p_offset > file_bytes || segment.p_filesz > file_bytes - segment.p_offset)
            return NULL;
        *room = (size_t)(segment.p_filesz - offset);
        return file + segment.p_offset + offset;
    }
    return NULL;
}

static void symbols_elf_add_imports(struct symbols_map *imports, Elf *elf, Elf_Scn *section, const GElf_Shdr *header)
{
    Elf_Data *data = elf_getdata(section, NULL);
    size_t count = data && header->sh_entsize ? data->d_size / header->sh_entsize : 0;
    GElf_Sym symbol;
    for (size_t i = 1; i < count && i < INT32_MAX && gelf_getsym(data, (int)i, &symbol); i++) {
        const char *name = symbol.st_shndx == SHN_UNDEF ? elf_strptr(elf, header->sh_link, symbol.st_name) : NULL;
        uint64_t key = name ? hash_bytes(name, strlen(name)) : 0;
        if (name && *name && !symbols_map_find(imports, key))
            symbols_map_put(imports, key, imports);
    }
}

void symbols_elf_imports(Elf *elf, struct symbols_map *imports)
{
    GElf_Shdr header;
    for (Elf_Scn *section = NULL; (section = symbols_elf_next(elf, section, SHT_DYNSYM, &header));)
        symbols_elf_add_imports(imports, elf, section, &header);
}

/* Returns how good the name of a symbol is (0 is best), or -1 if the symbol is not used. A symbol without a
 * type comes from hand-written assembly. It is used only in a code section, and its rank is 4 or more. */
static int symbol_rank(Elf *elf, const GElf_Sym *symbol, enum symbols_table_kind kind)
{
    static const uint8_t by_binding[] = {[STB_LOCAL] = 2, [STB_GLOBAL] = 0, [STB_WEAK] = 1};
    unsigned type = GELF_ST_TYPE(symbol->st_info), binding = GELF_ST_BIND(symbol->st_info);
    int rank = binding < sizeof by_binding ? by_binding[binding] : 0;
    GElf_Shdr header;
    if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx == SHN_ABS)
        return -1;
    if (kind == SYMBOLS_OBJECTS)
        return (type == STT_OBJECT || type == STT_COMMON) && symbol->st_size ? rank : -1;
    if (type == STT_FUNC || type == STT_GNU_IFUNC)
        return rank;
    if (type != STT_NOTYPE || symbol->st_shndx >= SHN_LORESERVE)
        return -1;
    Elf_Scn *section = elf_getscn(elf, symbol->st_shndx);
    return section && gelf_getshdr(section, &header) && (header.sh_flags & SHF_EXECINSTR) ? 4 + rank : -1;
}

static void symbols_table_add_section(struct symbols_table *table, Elf *elf, Elf_Scn *section, const GElf_Shdr *header,
                                      enum symbols_table_kind kind)
{
    Elf_Data *data = elf_getdata(section, NULL);
    size_t count = data && header->sh_entsize ? data->d_size / header->sh_entsize : 0;
    for (size_t i = 1; i < count && i < INT32_MAX; i++) {
        GElf_Sym symbol;
        if (!gelf_getsym(data, (int)i, &symbol))
            return;
        int rank = symbol_rank(elf, &symbol, kind);
        const char *name = rank < 0 ? NULL : elf_strptr(elf, header->sh_link, symbol.st_name);
        if (!name || !*name || (rank >= 4 && (name[0] == '$' || strncmp(name, ".L", 2) == 0)))
            continue;
        if (!grow_list(&table->list, &table->room, table->count, sizeof *table->list))
            return;
        table->list[table->count++] = (struct symbols_entry){.start = symbol.st_value,
                                                             .size = symbol.st_size,
                                                             .name = name,
                                                             .rank = (uint8_t)rank,
                                                             .exported = header->sh_type == SHT_DYNSYM};
    }
}

void symbols_table_add(struct symbols_table *table, Elf *elf, enum symbols_table_kind kind)
{
    GElf_Shdr header;
    for (Elf_Scn *section = NULL; (section = symbols_elf_next(elf, section, SHT_SYMTAB, &header));)
        symbols_table_add_section(table, elf, section, &header, kind);
    for (Elf_Scn *section = NULL; (section = symbols_elf_next(elf, section, SHT_DYNSYM, &header));)
        symbols_table_add_section(table, elf, section, &header, kind);
}

#define RADIX_BITS 11

/* Sorts the symbols by address. Symbols with equal addresses keep their order. A radix sort, with 11 bits in
 * each pass, skips bits that are equal in all addresses. With a comparison sort, the 30,000 symbols in a C
 * library's debug file would take longer than all lookups. */
void symbols_table_sort(struct symbols_table *table)
{
    uint64_t all = 0, common = UINT64_MAX;
    for (size_t i = 0; i < table->count; i++) {
        all |= table->list[i].start;
        common &= table->list[i].start;
    }
    struct symbols_entry *from = table->list, *to = malloc((table->count + 1) * sizeof *to);
    for (int shift = 0; to && shift < 64; shift += RADIX_BITS) {
        size_t begin[1 << RADIX_BITS] = {0}, sum = 0;
        const uint64_t mask = (1 << RADIX_BITS) - 1;
        if (!((all & ~common) >> shift & mask))
            continue;
        for (size_t i = 0; i < table->count; i++)
            begin[from[i].start >> shift & mask]++;
        for (size_t i = 0; i <= mask; i++) {
            size_t count = begin[i];
            begin[i] = sum;
            sum += count;
        }
        for (size_t i = 0; i < table->count; i++)
            to[begin[from[i].start >> shift & mask]++] = from[i];
        struct symbols_entry *swapped = from;
        from = to;
        to = swapped;
    }
    if (!to) /* memory ran out: the table is empty */
        table->count = 0;
    table->list = from;
    if (to)
        table->room = table->count + 1;
    free(to);
}

/* Returns whether name a is plainer than name b, which has the same address. For example, malloc is plainer
 * than __libc_malloc. */
static bool symbol_is_plainer(const struct symbols_entry *a, const struct symbols_entry *b)
{
    if (a->rank >= 4 || b->rank >= 4)
        return a->rank < 4 && b->rank >= 4;
    size_t a_marks = strspn(a->name, "_"), b_marks = strspn(b->name, "_");
    size_t a_length = strlen(a->name), b_length = strlen(b->name);
    bool a_mangled = a_marks == 1 && a->name[1] == 'Z', b_mangled = b_marks == 1 && b->name[1] == 'Z';
    if (!a_mangled && !b_mangled && a_marks != b_marks)
        return a_marks < b_marks;
    /* if both names are exported, it does not matter which of them is weak */
    if (a->rank != b->rank && !(a->exported && b->exported))
        return a->rank < b->rank;
    if (a_length != b_length)
        return a_length < b_length;
    return strcmp(a->name, b->name) < 0;
}

/* Returns whether name a is better than name b, which has the same address. The best names are those that the
 * program's own modules import. The second best are other exported names, and the plainest of these. */
static bool symbol_is_better(const struct symbols_entry *a, const struct symbols_entry *b,
                             const struct symbols_asking *asking)
{
    bool plain = symbol_is_plainer(a, b);
    if (a->rank >= 4 || b->rank >= 4 || a->exported != b->exported)
        return a->rank >= 4 || b->rank >= 4 ? plain : a->exported;
    if (!a->exported || strcmp(a->name, b->name) == 0)
        return plain;
    bool a_asked = asking->is_asked(asking->context, a->name), b_asked = asking->is_asked(asking->context, b->name);
    return a_asked != b_asked ? a_asked : plain;
}

/* Moves the best of the names of an address to the front. Gives it the size of the largest symbol at the
 * address. */
static void symbol_choose_best_name(struct symbols_entry *list, size_t count, const struct symbols_asking *asking)
{
    uint64_t size = list[0].size;
    for (size_t i = 1; i < count && i < MAX_ALIASES && !list[0].chosen; i++) {
        struct symbols_entry entry = list[i];
        size = entry.size > size ? entry.size : size;
        if (symbol_is_better(&entry, &list[0], asking)) {
            list[i] = list[0];
            list[0] = entry;
        }
    }
    list[0].size = size;
    list[0].chosen = true;
}

const struct symbols_entry *symbols_table_find(struct symbols_table *table, uint64_t vaddr,
                                               const struct symbols_asking *asking)
{
    struct symbols_entry *list = table->list;
    size_t low = 0, high = table->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (list[middle].start <= vaddr)
            low = middle + 1;
        else
            high = middle;
    }
    for (size_t end = low, first; end > 0 && low - end < LOOK_BACK; end = first) {
        for (first = end - 1; first > 0 && list[first - 1].start == list[first].start;)
            first--;
        symbol_choose_best_name(&list[first], end - first, asking);
        /* A symbol from hand-written assembly has no size, so it is assumed to end where the next symbol
         * starts. */
        if (list[first].size ? vaddr - list[first].start < list[first].size : end == low)
            return &list[first];
    }
    return NULL;
}
