/* Finds the start of a function without a symbol in the unwind tables. Stripped code can thus have one name
 * for each function instead of one for each address. Only the form that GNU ld, gold, lld and mold usually
 * write is understood: an .eh_frame_hdr with a table of 32-bit offsets, and entries with relative addresses.
 * If the tables have another form, functions are unknown. */
#include "command/symbols/unwind.h"

#include <stdlib.h>
#include <string.h>

#define HEADER_BYTES         12u
#define TABLE_RELATIVE_INT32 0x3b /* DW_EH_PE_datarel | DW_EH_PE_sdata4 */
#define COUNT_UINT32         0x03 /* DW_EH_PE_udata4 */

static struct symbols_bytes symbols_unwind_section_bytes(struct symbols_module *module, const char *name)
{
    GElf_Shdr header;
    Elf_Scn *section = symbols_elf_section(module->main.elf, name, &header);
    Elf_Data *data = section && header.sh_type != SHT_NOBITS ? elf_rawdata(section, NULL) : NULL;
    if (!data || !data->d_buf)
        return (struct symbols_bytes){0};
    return (struct symbols_bytes){.data = data->d_buf, .vaddr = header.sh_addr, .size = data->d_size};
}

static int32_t symbols_unwind_table_int32(const uint8_t *data)
{
    int32_t value;
    memcpy(&value, data, sizeof value);
    return value;
}

/* Returns the start address of the function in row i of the table. */
static uint64_t symbols_unwind_table_start(const struct symbols_bytes *header, size_t i)
{
    return header->vaddr + (uint64_t)(int64_t)symbols_unwind_table_int32(header->data + HEADER_BYTES + 8 * i);
}

/* Returns the length of the function that starts at `start`, in bytes, from its unwind entry at address `at`.
 * Returns 0 if the entry is that of another function. */
static uint32_t symbols_unwind_entry_bytes(const struct symbols_bytes *frames, uint64_t at, uint64_t start)
{
    uint64_t offset = at - frames->vaddr;
    if (at < frames->vaddr || offset > frames->size || frames->size - offset < 16)
        return 0;
    /* the entry starts with four fields of 4 bytes: length, CIE, start, size */
    const uint8_t *entry = frames->data + offset;
    uint64_t begins = at + 8 + (uint64_t)(int64_t)symbols_unwind_table_int32(entry + 8);
    return begins == start ? (uint32_t)symbols_unwind_table_int32(entry + 12) : 0;
}

static void symbols_unwind_load_tables(struct symbols_module *module)
{
    struct symbols_bytes header = symbols_unwind_section_bytes(module, ".eh_frame_hdr");
    module->unwind_known = true;
    if (header.size <= HEADER_BYTES || header.data[0] != 1 || header.data[2] != COUNT_UINT32 ||
        header.data[3] != TABLE_RELATIVE_INT32)
        return;
    uint64_t count = (uint32_t)symbols_unwind_table_int32(header.data + 8), room = (header.size - HEADER_BYTES) / 8;
    module->unwind_header = header;
    module->unwind_frames = symbols_unwind_section_bytes(module, ".eh_frame");
    module->unwind_count = (size_t)(count < room ? count : room);
}

bool symbols_unwind_extent(struct symbols_module *module, uint64_t vaddr, uint64_t *low, uint64_t *high)
{
    if (!module->unwind_known && symbols_module_open(module))
        symbols_unwind_load_tables(module);
    const struct symbols_bytes *header = &module->unwind_header;
    size_t first = 0, end = module->unwind_count;
    while (first < end) {
        size_t middle = first + (end - first) / 2;
        if (symbols_unwind_table_start(header, middle) <= vaddr)
            first = middle + 1;
        else
            end = middle;
    }
    if (!first)
        return false;
    *low = symbols_unwind_table_start(header, first - 1);
    int32_t entry = symbols_unwind_table_int32(header->data + HEADER_BYTES + 8 * (first - 1) + 4);
    *high = *low + symbols_unwind_entry_bytes(&module->unwind_frames, header->vaddr + (uint64_t)(int64_t)entry, *low);
    return vaddr < *high;
}
