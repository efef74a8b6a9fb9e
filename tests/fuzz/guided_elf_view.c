/* needs: layers/loader/elf_view.c */
/* A library as the dynamic loader's part reads it: its file, and as if its first segment had been mapped. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "layers/loader/elf_view.h"

#define ROOM_BYTES     (1ul << 16)
#define RESERVED_BYTES (1ul << 38) /* an index of 32 bits leads no further */
#define DYNAMIC_MOST   31u

static bool has_nothing(const void *in, const char *name)
{
    (void)in, (void)name;
    return false;
}

static void ask_all(const struct elf_view *view)
{
    struct elf_lack lack;
    const ElfW(Sym) *symbol = elf_view_find(view, "omp_get_max_threads");
    if (symbol && symbol->st_shndx == SHN_UNDEF)
        abort();
    elf_view_find(view, "");
    elf_view_unmet(view, has_nothing, NULL, &lack);
    if (lack.count > ELF_LACK_MOST || (lack.name && !*lack.name))
        abort();
    elf_view_lacks(view, view, "libgomp.so.1", &lack);
}

/* Up to a page that cannot be read, as all that tables in it can lead to: AddressSanitizer's own memory can be. */
static uint8_t *place_of(const uint8_t *data, size_t count)
{
    static uint8_t *room;
    if (!room) {
        room = mmap(NULL, RESERVED_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (room == MAP_FAILED || mprotect(room, ROOM_BYTES, PROT_READ | PROT_WRITE) != 0)
            abort();
    }
    return memcpy(room + ROOM_BYTES - count, data, count);
}

static bool is_size(int64_t tag)
{
    return tag == DT_PLTRELSZ || tag == DT_RELASZ || tag == DT_RELACOUNT;
}

static void read_map(const uint8_t *bytes, size_t count)
{
    struct elf_view view;
    ElfW(Dyn) dynamic[DYNAMIC_MOST + 1] = {{0}}; /* the last one ends them */
    size_t entries = count / sizeof(*dynamic) < DYNAMIC_MOST ? count / sizeof(*dynamic) : DYNAMIC_MOST;
    memcpy(dynamic, bytes, entries * sizeof(*dynamic));
    for (size_t i = 0; i < entries; i++)
        if (!is_size(dynamic[i].d_tag))
            dynamic[i].d_un.d_ptr %= 2 * ROOM_BYTES;
    struct link_map map = {.l_addr = (uintptr_t)bytes, .l_ld = dynamic};
    elf_view_of_map(&view, &map);
    ask_all(&view);
    elf_view_needs(&view, &map, "libgomp.so.1");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t count);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t count)
{
    struct elf_view view;
    count = count / 8 * 8;
    if (!count || count > ROOM_BYTES)
        return 0;
    uint8_t *bytes = place_of(data, count);
    if (elf_view_of_file(&view, bytes, count))
        ask_all(&view);
    read_map(bytes, count);
    return 0;
}
