/* needs: unwind/cfi.c unwind/debug_frame.c */
/* An ELF file as the handler reads it: .debug_frame by its section headers, and the rows of .eh_frame and .debug_frame at
 * addresses all over it. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "unwind/cfi.h"

static void check_bounds(const struct loadmap_module *module, const struct cfi_rule *rule)
{
    if (rule->where != CFI_EXPRESSION && rule->where != CFI_AT_EXPRESSION)
        return;
    const char *base = module->debug_frame.bytes ? (const char *)module->debug_frame.bytes : module->view;
    size_t bytes = module->debug_frame.bytes ? module->debug_frame.size : module->view_bytes;
    const char *at = (const char *)rule->expression;
    if (at >= module->view && at <= module->view + module->view_bytes)
        base = module->view, bytes = module->view_bytes;
    if (at < base || (size_t)(at - base) > bytes || rule->number > bytes - (size_t)(at - base))
        abort();
}

static void read_rows(const struct loadmap_module *module)
{
    for (unsigned i = 0; i < 64; i++) {
        struct cfi_row row;
        uintptr_t address = module->vaddr_low + (module->vaddr_high - module->vaddr_low) / 64 * i + i;
        if (cfi_read_row(module, address, &row) != CFI_ROW)
            continue;
        if (address < row.start || address >= row.end)
            abort();
        check_bounds(module, &row.cfa);
        check_bounds(module, &row.rbp);
        check_bounds(module, &row.return_address);
    }
}

/* As module_number() finds them; all of the file is taken for one segment at its own offset. */
static void read_tables(const uint8_t *data, size_t count, const Elf64_Ehdr *elf)
{
    struct loadmap_module module = {.view = (const char *)data, .view_bytes = count, .vaddr_high = count};
    for (size_t i = 0; i < elf->e_phnum && elf->e_phoff < count && (i + 1) * sizeof(Elf64_Phdr) <= count - elf->e_phoff;
         i++) {
        Elf64_Phdr segment;
        memcpy(&segment, data + elf->e_phoff + i * sizeof segment, sizeof segment);
        if (segment.p_type == PT_GNU_EH_FRAME && segment.p_offset < count) {
            module.eh_frame_header = segment.p_offset;
            module.eh_frame_header_bytes = segment.p_memsz;
        }
    }
    read_rows(&module);
    static struct debug_frame_room room;
    static int file = -1;
    if (file < 0)
        file = memfd_create("fuzz", 0);
    if (ftruncate(file, (off_t)count) != 0 || pwrite(file, data, count, 0) != (ssize_t)count)
        abort();
    module.eh_frame_header = 0;
    module.debug_frame = debug_frame_read(file, elf, 0, count, 1u << 20, &room);
    if (!module.debug_frame.count)
        return;
    read_rows(&module);
    munmap((void *)module.debug_frame.entries, module.debug_frame.count * sizeof *module.debug_frame.entries);
    munmap((void *)module.debug_frame.bytes, module.debug_frame.size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t count);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t count)
{
    Elf64_Ehdr elf;
    if (count < sizeof elf)
        return 0;
    memcpy(&elf, data, sizeof elf);
    read_tables(data, count, &elf);
    return 0;
}
