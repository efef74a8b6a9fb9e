#include "unwind/cfi.h"

#include "unwind/cfi_bytes.h"
#include "unwind/cfi_program.h"

#define MAX_AUGMENTATION 8u

/* What entries are read from. */
struct section {
    const unsigned char *bytes;
    size_t size;
    uintptr_t vaddr;    /* of its first byte; .debug_frame has none: 0, and positions in it are offsets */
    bool for_debuggers; /* .debug_frame */
};

static struct section view_of(const struct loadmap_module *module)
{
    return (struct section){(const unsigned char *)module->view, module->view_bytes, module->view_vaddr, false};
}

/* From a link-time address to the section's end. */
static bool reader_at(const struct section *section, uintptr_t vaddr, struct cfi_bytes *reader)
{
    uintptr_t offset = vaddr - section->vaddr;
    if (offset >= section->size)
        return false;
    *reader = (struct cfi_bytes){section->bytes + offset, section->bytes + section->size,
                                 section->vaddr - (uintptr_t)section->bytes, false};
    return true;
}

static int32_t table_word(const unsigned char *table, size_t index)
{
    int32_t word;
    memcpy(&word, table + 4 * index, sizeof(word));
    return word;
}

enum cfi_status cfi_find_table(const struct loadmap_module *module, const unsigned char **table, size_t *count)
{
    struct cfi_bytes header;
    if (!module->view || !module->eh_frame_header)
        return CFI_NO_TABLE;
    const struct section view = view_of(module);
    if (!reader_at(&view, module->eh_frame_header, &header) || cfi_bytes_left(&header) < CFI_HEADER_BYTES)
        return CFI_DAMAGED;
    if (header.at[0] != 1 || header.at[1] != (CFI_ENCODING_PCREL | CFI_ENCODING_SDATA4) ||
        header.at[2] != CFI_ENCODING_UDATA4 || header.at[3] != (CFI_ENCODING_DATAREL | CFI_ENCODING_SDATA4))
        return CFI_NO_TABLE; /* libunwind has no other */
    *table = header.at + CFI_HEADER_BYTES;
    *count = (uint32_t)table_word(header.at, 2);
    return *count <= (cfi_bytes_left(&header) - CFI_HEADER_BYTES) / 8 ? CFI_ROW : CFI_DAMAGED;
}

/* Binary search for the last entry that starts at the address or before it. */
static enum cfi_status find_entry(const struct loadmap_module *module, uintptr_t address, uintptr_t *entry)
{
    const unsigned char *table;
    size_t low = 0, high;
    enum cfi_status status = cfi_find_table(module, &table, &high);
    if (status != CFI_ROW)
        return status;
    int64_t wanted = (int64_t)(address - module->eh_frame_header);
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (table_word(table, 2 * middle) <= wanted)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return CFI_NO_ENTRY;
    *entry = module->eh_frame_header + (uintptr_t)(intptr_t)table_word(table, 2 * low - 1);
    return CFI_ROW;
}

/* An entry's bytes behind its length. The form with 64-bit lengths is for sections of more than 4 GB: in .eh_frame
 * nobody writes it. */
static enum cfi_status read_length(const struct section *section, uintptr_t vaddr, struct cfi_bytes *entry,
                                   bool *wide)
{
    struct cfi_bytes rest;
    if (!reader_at(section, vaddr, &rest))
        return CFI_DAMAGED;
    uint64_t bytes = cfi_read_unsigned(&rest, 4);
    *wide = bytes == CFI_WIDE_LENGTH;
    if (*wide && !section->for_debuggers)
        return CFI_FOREIGN;
    if (*wide)
        bytes = cfi_read_unsigned(&rest, 8);
    *entry = cfi_take(&rest, bytes);
    return rest.failed || bytes == 0 ? CFI_DAMAGED : CFI_ROW;
}

/* One letter each, with its data in the same order. */
static enum cfi_status read_augmentation(const char *letters, struct cfi_bytes *data,
                                         struct cfi_common *common)
{
    for (; *letters; letters++) {
        unsigned encoding;
        switch (*letters) {
        case 'R':
            common->encoding = (unsigned)cfi_read_unsigned(data, 1);
            break;
        case 'L':
            cfi_read_unsigned(data, 1);
            break;
        case 'P':
            encoding = (unsigned)cfi_read_unsigned(data, 1);
            if (encoding == CFI_ENCODING_ALIGNED)
                return CFI_FOREIGN;
            if (encoding != CFI_ENCODING_OMIT)
                cfi_read_format(data, encoding);
            break;
        case 'S':
            common->signal_frame = true;
            break;
#if defined(__aarch64__)
        case 'B': /* return addresses are signed by the other key */
        case 'G': /* the stack's memory has tags */
            break;
#endif
        default:
            return CFI_FOREIGN;
        }
    }
    return data->failed ? CFI_DAMAGED : CFI_ROW;
}

/* Version 4, .debug_frame's alone, says what addresses are like. */
static bool is_known_version(unsigned version, bool for_debuggers)
{
    return version == 1 || version == 3 || (version == 4 && for_debuggers);
}

static enum cfi_status read_common(const struct section *section, uintptr_t vaddr, struct cfi_common *common)
{
    struct cfi_bytes entry;
    bool wide;
    char letters[MAX_AUGMENTATION + 1];
    enum cfi_status status = read_length(section, vaddr, &entry, &wide);
    if (status != CFI_ROW)
        return status;
    if (cfi_read_unsigned(&entry, wide ? 8 : 4) != (section->for_debuggers ? cfi_common_id(wide) : 0))
        return CFI_DAMAGED;
    unsigned version = (unsigned)cfi_read_unsigned(&entry, 1);
    if (!entry.failed && !is_known_version(version, section->for_debuggers))
        return CFI_FOREIGN;
    size_t length = 0;
    while ((letters[length] = (char)cfi_read_unsigned(&entry, 1)) != '\0')
        if (++length > MAX_AUGMENTATION)
            return CFI_FOREIGN;
    if (version == 4 && cfi_read_unsigned(&entry, 2) != 8) /* bytes of an address; of a segment's number: 0 */
        return CFI_FOREIGN;
    common->code_factor = cfi_read_uleb(&entry);
    common->data_factor = cfi_read_sleb(&entry);
    uint64_t return_column = version == 1 ? cfi_read_unsigned(&entry, 1) : cfi_read_uleb(&entry);
    if (entry.failed)
        return CFI_DAMAGED;
    if (return_column != CFI_RIP)
        return CFI_FOREIGN;
    common->encoding = CFI_ENCODING_ABSOLUTE;
    common->signal_frame = false;
    common->sized = letters[0] == 'z';
    if (common->sized) {
        struct cfi_bytes data = cfi_take(&entry, cfi_read_uleb(&entry));
        status = read_augmentation(letters + 1, &data, common);
    } else if (letters[0] != '\0') {
        status = CFI_FOREIGN; /* "eh": GCC before version 3 */
    }
    if (status == CFI_ROW && !cfi_is_code_encoding(common->encoding))
        status = CFI_FOREIGN;
    common->program = entry;
    return entry.failed ? CFI_DAMAGED : status;
}

/* The row of the entry at `at`, if it covers the address. */
static enum cfi_status read_row(const struct section *section, uintptr_t at, uintptr_t address, struct cfi_row *row)
{
    struct cfi_bytes entry;
    struct cfi_common common;
    bool wide;
    enum cfi_status status = read_length(section, at, &entry, &wide);
    if (status != CFI_ROW)
        return status;
    uintptr_t here = cfi_bytes_vaddr(&entry);
    uint64_t distance = cfi_read_unsigned(&entry, wide ? 8 : 4);
    if (entry.failed || (distance == 0 && !section->for_debuggers)) /* 0: a common entry */
        return CFI_DAMAGED;
    status = read_common(section, section->for_debuggers ? distance : here - distance, &common);
    if (status != CFI_ROW)
        return status;
    row->start = cfi_read_code_address(&entry, common.encoding);
    uint64_t bytes = cfi_read_format(&entry, common.encoding);
    if (common.sized)
        cfi_take(&entry, cfi_read_uleb(&entry));
    if (entry.failed)
        return CFI_DAMAGED;
    if (address - row->start >= bytes)
        return CFI_NO_ENTRY;
    row->end = row->start + bytes;
    if (row->end < row->start)
        return CFI_DAMAGED;
    row->for_debuggers = section->for_debuggers;
    return cfi_run_program(&common, &entry, address, row);
}

static bool read_debug_row(const struct debug_frame *frame, uintptr_t address, struct cfi_row *row)
{
    const struct debug_frame_entry *entry = debug_frame_find(frame, address);
    const struct section section = {frame->bytes, frame->size, 0, true};
    return entry && read_row(&section, entry->at, address, row) == CFI_ROW;
}

enum cfi_status cfi_read_row(const struct loadmap_module *module, uintptr_t address, struct cfi_row *row)
{
    const struct section view = view_of(module);
    uintptr_t at = 0;
    enum cfi_status status = find_entry(module, address, &at);
    if (status == CFI_ROW)
        status = read_row(&view, at, address, row);
    bool uncovered = status == CFI_NO_TABLE || status == CFI_NO_ENTRY;
    return uncovered && read_debug_row(&module->debug_frame, address, row) ? CFI_ROW : status;
}
