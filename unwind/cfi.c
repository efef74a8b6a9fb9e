#include "unwind/cfi.h"

#include "unwind/cfi_bytes.h"

/* ---- execution of call frame instructions ---- */

/* The parts of a common information entry (CIE) that are needed to compute rows. */
struct cfi_common {
    uint64_t code_factor;
    int64_t data_factor;
    unsigned encoding; /* encoding of code addresses */
    bool sized;        /* true if the CIE has augmentation data, which then begins with its length */
    bool signal_frame;
    struct cfi_bytes program; /* initial instructions, which are executed before those of each entry */
};

/* The longest sequence of instructions that we found has 6,324; it is in libclang-cpp.so.19.1. We found no
 * sequence that remembers more than one state at a time. */
#define MAX_INSTRUCTIONS 100000u
#define MAX_REMEMBERED   8u

/* Opcodes of call frame instructions. The first three have an operand in their low six bits. */
enum {
    OP_ADVANCE = 0x40,
    OP_OFFSET = 0x80,
    OP_RESTORE = 0xc0,
    OP_NOP = 0x00,
    OP_SET_LOC = 0x01,
    OP_ADVANCE_1 = 0x02,
    OP_ADVANCE_2 = 0x03,
    OP_ADVANCE_4 = 0x04,
    OP_OFFSET_EXTENDED = 0x05,
    OP_RESTORE_EXTENDED = 0x06,
    OP_UNDEFINED = 0x07,
    OP_SAME_VALUE = 0x08,
    OP_REGISTER = 0x09,
    OP_REMEMBER_STATE = 0x0a,
    OP_RESTORE_STATE = 0x0b,
    OP_DEF_CFA = 0x0c,
    OP_DEF_CFA_REGISTER = 0x0d,
    OP_DEF_CFA_OFFSET = 0x0e,
    OP_DEF_CFA_EXPRESSION = 0x0f,
    OP_EXPRESSION = 0x10,
    OP_OFFSET_EXTENDED_SF = 0x11,
    OP_DEF_CFA_SF = 0x12,
    OP_DEF_CFA_OFFSET_SF = 0x13,
    OP_VAL_OFFSET = 0x14,
    OP_VAL_OFFSET_SF = 0x15,
    OP_VAL_EXPRESSION = 0x16,
#if defined(__aarch64__)
    OP_SIGNS_RETURN_ADDRESS_AND_PLACE = 0x2c,
    /* on aarch64 this also ends signing, which is harmless, because we remove signatures from all return
     * addresses */
    OP_SIGNS_RETURN_ADDRESS = 0x2d,
#endif
    OP_GNU_ARGS_SIZE = 0x2e,
    OP_GNU_NEGATIVE_OFFSET = 0x2f,
};

struct state {
    struct cfi_rule cfa, rbp, return_address;
    bool stack_rule;
};

struct machine {
    const struct cfi_common *common;
    struct state now, initial;
    struct state remembered[MAX_REMEMBERED];
    unsigned remembered_count;
    unsigned instructions;
    bool in_entry; /* true once the initial instructions have been executed; `initial` is then valid */
    /* address whose row is wanted, and the bounds of the current row as far as they are known */
    uintptr_t wanted, start, end;
    enum cfi_status status; /* CFI_ROW unless an error has occurred */
};

static int64_t cfi_scale_operand(uint64_t value, int64_t factor)
{
    return (int64_t)(value * (uint64_t)factor);
}

static void cfi_set_rule(struct machine *machine, uint64_t column, struct cfi_rule rule)
{
    if (column == CFI_RBP)
        machine->now.rbp = rule;
    else if (column == CFI_RIP)
        machine->now.return_address = rule;
    else if (column == CFI_RSP)
        machine->now.stack_rule = true;
}

static void cfi_set_offset(struct machine *machine, uint64_t column, enum cfi_where where, int64_t offset)
{
    cfi_set_rule(machine, column, (struct cfi_rule){.where = where, .offset = offset});
}

static void cfi_set_expression(struct machine *machine, uint64_t column, enum cfi_where where, struct cfi_bytes text)
{
    cfi_set_rule(machine, column, (struct cfi_rule){where, (uint32_t)cfi_bytes_left(&text), {.expression = text.at}});
}

static void cfi_restore_rule(struct machine *machine, uint64_t column)
{
    if (!machine->in_entry)
        machine->status = CFI_DAMAGED;
    else if (column == CFI_RBP)
        machine->now.rbp = machine->initial.rbp;
    else if (column == CFI_RIP)
        machine->now.return_address = machine->initial.return_address;
    else if (column == CFI_RSP)
        machine->now.stack_rule = machine->initial.stack_rule;
}

/* Starts a new row at `location`. Returns true if the wanted address is in the row before, which ends there. */
static bool cfi_advance_row_to(struct machine *machine, uintptr_t location)
{
    if (!machine->in_entry || location < machine->start) {
        machine->status = CFI_DAMAGED;
        return true;
    }
    if (location > machine->wanted) {
        if (location < machine->end)
            machine->end = location;
        return true;
    }
    machine->start = location;
    return false;
}

static bool cfi_advance_row(struct machine *machine, uint64_t delta)
{
    return cfi_advance_row_to(machine, machine->start + delta * machine->common->code_factor);
}

static void cfi_remember_state(struct machine *machine)
{
    if (machine->remembered_count == MAX_REMEMBERED)
        machine->status = CFI_FOREIGN;
    else
        machine->remembered[machine->remembered_count++] = machine->now;
}

static void cfi_restore_state(struct machine *machine)
{
    if (machine->remembered_count == 0)
        machine->status = CFI_DAMAGED;
    else
        machine->now = machine->remembered[--machine->remembered_count];
}

static void cfi_define_cfa(struct machine *machine, uint64_t number, int64_t offset)
{
    if (number > UINT32_MAX)
        machine->status = CFI_DAMAGED;
    machine->now.cfa = (struct cfi_rule){CFI_REGISTER, (uint32_t)number, {.offset = offset}};
}

static void cfi_change_cfa_offset(struct machine *machine, int64_t offset)
{
    if (machine->now.cfa.where != CFI_REGISTER)
        machine->status = CFI_DAMAGED;
    machine->now.cfa.offset = offset;
}

static void cfi_change_cfa_register(struct machine *machine, uint64_t number)
{
    if (machine->now.cfa.where != CFI_REGISTER || number > UINT32_MAX)
        machine->status = CFI_DAMAGED;
    machine->now.cfa.number = (uint32_t)number;
}

static struct cfi_bytes cfi_read_block(struct cfi_bytes *program)
{
    return cfi_take(program, cfi_read_uleb(program));
}

static void cfi_execute_cfa(struct machine *machine, struct cfi_bytes *program, unsigned opcode)
{
    int64_t factor = machine->common->data_factor;
    struct cfi_bytes block;
    uint64_t number;
    switch (opcode) {
    case OP_DEF_CFA:
        number = cfi_read_uleb(program);
        cfi_define_cfa(machine, number, (int64_t)cfi_read_uleb(program));
        break;
    case OP_DEF_CFA_SF:
        number = cfi_read_uleb(program);
        cfi_define_cfa(machine, number, cfi_scale_operand((uint64_t)cfi_read_sleb(program), factor));
        break;
    case OP_DEF_CFA_REGISTER:
        cfi_change_cfa_register(machine, cfi_read_uleb(program));
        break;
    case OP_DEF_CFA_OFFSET:
        cfi_change_cfa_offset(machine, (int64_t)cfi_read_uleb(program));
        break;
    case OP_DEF_CFA_OFFSET_SF:
        cfi_change_cfa_offset(machine, cfi_scale_operand((uint64_t)cfi_read_sleb(program), factor));
        break;
    case OP_DEF_CFA_EXPRESSION:
        block = cfi_read_block(program);
        machine->now.cfa =
            (struct cfi_rule){CFI_EXPRESSION, (uint32_t)cfi_bytes_left(&block), {.expression = block.at}};
        break;
    }
}

static void cfi_execute_rule(struct machine *machine, struct cfi_bytes *program, unsigned opcode)
{
    int64_t factor = machine->common->data_factor;
    uint64_t column = cfi_read_uleb(program);
    switch (opcode) {
    case OP_OFFSET_EXTENDED:
        cfi_set_offset(machine, column, CFI_AT_CFA, cfi_scale_operand(cfi_read_uleb(program), factor));
        break;
    case OP_OFFSET_EXTENDED_SF:
        cfi_set_offset(machine, column, CFI_AT_CFA, cfi_scale_operand((uint64_t)cfi_read_sleb(program), factor));
        break;
    case OP_GNU_NEGATIVE_OFFSET:
        cfi_set_offset(machine, column, CFI_AT_CFA, cfi_scale_operand(0 - cfi_read_uleb(program), factor));
        break;
    case OP_VAL_OFFSET:
        cfi_set_offset(machine, column, CFI_IS_CFA, cfi_scale_operand(cfi_read_uleb(program), factor));
        break;
    case OP_VAL_OFFSET_SF:
        cfi_set_offset(machine, column, CFI_IS_CFA, cfi_scale_operand((uint64_t)cfi_read_sleb(program), factor));
        break;
    case OP_RESTORE_EXTENDED:
        cfi_restore_rule(machine, column);
        break;
    case OP_UNDEFINED:
        cfi_set_offset(machine, column, CFI_UNDEFINED, 0);
        break;
    case OP_SAME_VALUE:
        cfi_set_offset(machine, column, CFI_SAME, 0);
        break;
    case OP_REGISTER:
        cfi_set_rule(machine, column, (struct cfi_rule){CFI_REGISTER, (uint32_t)cfi_read_uleb(program), {0}});
        break;
    case OP_EXPRESSION:
        cfi_set_expression(machine, column, CFI_AT_EXPRESSION, cfi_read_block(program));
        break;
    case OP_VAL_EXPRESSION:
        cfi_set_expression(machine, column, CFI_EXPRESSION, cfi_read_block(program));
        break;
    }
}

/* Executes one instruction. Returns true if the wanted row is complete. */
static bool cfi_execute(struct machine *machine, struct cfi_bytes *program)
{
    unsigned opcode = (unsigned)cfi_read_unsigned(program, 1), operand = opcode & 0x3f;
    switch (opcode & 0xc0) {
    case OP_ADVANCE:
        return cfi_advance_row(machine, operand);
    case OP_OFFSET:
        cfi_set_offset(machine, operand, CFI_AT_CFA,
                       cfi_scale_operand(cfi_read_uleb(program), machine->common->data_factor));
        return false;
    case OP_RESTORE:
        cfi_restore_rule(machine, operand);
        return false;
    }
    switch (opcode) {
    case OP_NOP:
        return false;
#if defined(__aarch64__)
    case OP_SIGNS_RETURN_ADDRESS_AND_PLACE:
    case OP_SIGNS_RETURN_ADDRESS:
        return false;
#endif
    case OP_SET_LOC:
        return cfi_advance_row_to(machine, cfi_read_code_address(program, machine->common->encoding));
    case OP_ADVANCE_1:
        return cfi_advance_row(machine, cfi_read_unsigned(program, 1));
    case OP_ADVANCE_2:
        return cfi_advance_row(machine, cfi_read_unsigned(program, 2));
    case OP_ADVANCE_4:
        return cfi_advance_row(machine, cfi_read_unsigned(program, 4));
    case OP_REMEMBER_STATE:
        cfi_remember_state(machine);
        return false;
    case OP_RESTORE_STATE:
        cfi_restore_state(machine);
        return false;
    case OP_GNU_ARGS_SIZE:
        cfi_read_uleb(program);
        return false;
    case OP_DEF_CFA:
    case OP_DEF_CFA_SF:
    case OP_DEF_CFA_REGISTER:
    case OP_DEF_CFA_OFFSET:
    case OP_DEF_CFA_OFFSET_SF:
    case OP_DEF_CFA_EXPRESSION:
        cfi_execute_cfa(machine, program, opcode);
        return false;
    }
    if (opcode <= OP_VAL_EXPRESSION || opcode == OP_GNU_NEGATIVE_OFFSET)
        cfi_execute_rule(machine, program, opcode);
    else
        machine->status = CFI_FOREIGN;
    return false;
}

/* Executes instructions until the wanted row is complete or none are left. */
static void run_cfi_instructions(struct machine *machine, struct cfi_bytes program)
{
    while (program.at < program.end && machine->status == CFI_ROW) {
        if (machine->instructions++ == MAX_INSTRUCTIONS)
            machine->status = CFI_FOREIGN;
        else if (cfi_execute(machine, &program))
            break;
    }
    if (program.failed)
        machine->status = CFI_DAMAGED;
}

/* Executes the instructions of the CIE and then those of the entry, up to the row for `address`, and stores
 * that row in *row. On entry, row->start and row->end are the bounds of the entry. */
static enum cfi_status run_cfi_program(const struct cfi_common *common, const struct cfi_bytes *program,
                                       uintptr_t address, struct cfi_row *row)
{
    struct machine machine;
    machine.common = common;
    machine.now = (struct state){.cfa = {.where = CFI_UNDEFINED}};
    machine.remembered_count = machine.instructions = 0;
    machine.in_entry = false;
    machine.wanted = address;
    machine.start = row->start;
    machine.end = row->end;
    machine.status = CFI_ROW;
    run_cfi_instructions(&machine, common->program);
    machine.initial = machine.now;
    machine.in_entry = true;
    run_cfi_instructions(&machine, *program);
    row->start = machine.start;
    row->end = machine.end;
    row->cfa = machine.now.cfa;
    row->rbp = machine.now.rbp;
    row->return_address = machine.now.return_address;
    row->stack_rule = machine.now.stack_rule;
    row->signal_frame = common->signal_frame;
    return machine.status;
}

/* ---- tables and entries ---- */

#define MAX_AUGMENTATION 8u

/* A section with call frame information: .eh_frame or .debug_frame. */
struct section {
    const unsigned char *bytes;
    size_t size;
    /* link-time address of the section's first byte; 0 for .debug_frame, in which entries are referred to by
     * offset */
    uintptr_t vaddr;
    bool for_debuggers; /* .debug_frame */
};

static struct section cfi_section_of_view(const struct loadmap_module *module)
{
    return (struct section){(const unsigned char *)module->view, module->view_bytes, module->view_vaddr, false};
}

/* Initialises a reader for the bytes from a link-time address to the end of the section. Returns false if the
 * address is outside the section. */
static bool cfi_reader_at(const struct section *section, uintptr_t vaddr, struct cfi_bytes *reader)
{
    uintptr_t offset = vaddr - section->vaddr;
    if (offset >= section->size)
        return false;
    *reader = (struct cfi_bytes){section->bytes + offset, section->bytes + section->size,
                                 section->vaddr - (uintptr_t)section->bytes, false};
    return true;
}

static int32_t cfi_table_word(const unsigned char *table, size_t index)
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
    const struct section view = cfi_section_of_view(module);
    if (!cfi_reader_at(&view, module->eh_frame_header, &header) || cfi_bytes_left(&header) < CFI_HEADER_BYTES)
        return CFI_DAMAGED;
    if (header.at[0] != 1 || header.at[1] != (CFI_ENCODING_PCREL | CFI_ENCODING_SDATA4) ||
        header.at[2] != CFI_ENCODING_UDATA4 || header.at[3] != (CFI_ENCODING_DATAREL | CFI_ENCODING_SDATA4))
        return CFI_NO_TABLE; /* libunwind cannot use other forms of the table either */
    *table = header.at + CFI_HEADER_BYTES;
    *count = (uint32_t)cfi_table_word(header.at, 2);
    return *count <= (cfi_bytes_left(&header) - CFI_HEADER_BYTES) / 8 ? CFI_ROW : CFI_DAMAGED;
}

/* Finds the last entry in the search table that starts at or before the address. */
/* Sets *above to the number of the table's entries that begin at the address or below. */
static enum cfi_status cfi_search_table(const struct loadmap_module *module, uintptr_t address,
                                        const unsigned char **table, size_t *count, size_t *above)
{
    enum cfi_status status = cfi_find_table(module, table, count);
    if (status != CFI_ROW)
        return status;
    size_t low = 0, high = *count;
    int64_t wanted = (int64_t)(address - module->eh_frame_header);
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (cfi_table_word(*table, 2 * middle) <= wanted)
            low = middle + 1;
        else
            high = middle;
    }
    *above = low;
    return CFI_ROW;
}

static enum cfi_status cfi_find_table_entry(const struct loadmap_module *module, uintptr_t address, uintptr_t *entry)
{
    const unsigned char *table;
    size_t count, above;
    enum cfi_status status = cfi_search_table(module, address, &table, &count, &above);
    if (status != CFI_ROW)
        return status;
    if (above == 0)
        return CFI_NO_ENTRY;
    *entry = module->eh_frame_header + (uintptr_t)(intptr_t)cfi_table_word(table, 2 * above - 1);
    return CFI_ROW;
}

uintptr_t cfi_next_function(const struct loadmap_module *module, uintptr_t address)
{
    const unsigned char *table;
    size_t count, above;
    if (cfi_search_table(module, address, &table, &count, &above) != CFI_ROW || above == count)
        return 0;
    return module->eh_frame_header + (uintptr_t)(intptr_t)cfi_table_word(table, 2 * above);
}

/* Finds the bytes that follow an entry's length. Lengths of 64 bits are meant for sections of more than 4 GB;
 * no tool writes them in .eh_frame. */
static enum cfi_status cfi_read_entry_length(const struct section *section, uintptr_t vaddr, struct cfi_bytes *entry,
                                             bool *wide)
{
    struct cfi_bytes rest;
    if (!cfi_reader_at(section, vaddr, &rest))
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

/* Reads the augmentation data. It contains one field for each letter of the augmentation string, in the order
 * of the letters. */
static enum cfi_status cfi_read_augmentation(const char *letters, struct cfi_bytes *data, struct cfi_common *common)
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
        case 'B': /* return addresses are signed with key B */
        case 'G': /* the function's stack memory is tagged (MTE) */
            break;
#endif
        default:
            return CFI_FOREIGN;
        }
    }
    return data->failed ? CFI_DAMAGED : CFI_ROW;
}

/* Returns true if we can read a CIE of this version. Version 4 occurs only in .debug_frame and states the
 * size of addresses. */
static bool cfi_is_known_version(unsigned version, bool for_debuggers)
{
    return version == 1 || version == 3 || (version == 4 && for_debuggers);
}

static enum cfi_status cfi_read_common_entry(const struct section *section, uintptr_t vaddr, struct cfi_common *common)
{
    struct cfi_bytes entry;
    bool wide;
    char letters[MAX_AUGMENTATION + 1];
    enum cfi_status status = cfi_read_entry_length(section, vaddr, &entry, &wide);
    if (status != CFI_ROW)
        return status;
    if (cfi_read_unsigned(&entry, wide ? 8 : 4) != (section->for_debuggers ? cfi_common_id(wide) : 0))
        return CFI_DAMAGED;
    unsigned version = (unsigned)cfi_read_unsigned(&entry, 1);
    if (!entry.failed && !cfi_is_known_version(version, section->for_debuggers))
        return CFI_FOREIGN;
    size_t length = 0;
    while ((letters[length] = (char)cfi_read_unsigned(&entry, 1)) != '\0')
        if (++length > MAX_AUGMENTATION)
            return CFI_FOREIGN;
    /* an address must have 8 bytes, a segment selector 0 */
    if (version == 4 && cfi_read_unsigned(&entry, 2) != 8)
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
        status = cfi_read_augmentation(letters + 1, &data, common);
    } else if (letters[0] != '\0') {
        status = CFI_FOREIGN; /* augmentation "eh", which GCC wrote before version 3 */
    }
    if (status == CFI_ROW && !cfi_is_code_encoding(common->encoding))
        status = CFI_FOREIGN;
    common->program = entry;
    return entry.failed ? CFI_DAMAGED : status;
}

/* Reads the row for an address from the entry at `at`. Returns CFI_NO_ENTRY if the entry does not cover the
 * address. */
static enum cfi_status cfi_read_entry_row(const struct section *section, uintptr_t at, uintptr_t address,
                                          struct cfi_row *row)
{
    struct cfi_bytes entry;
    struct cfi_common common;
    bool wide;
    enum cfi_status status = cfi_read_entry_length(section, at, &entry, &wide);
    if (status != CFI_ROW)
        return status;
    uintptr_t here = cfi_bytes_vaddr(&entry);
    uint64_t distance = cfi_read_unsigned(&entry, wide ? 8 : 4);
    if (entry.failed || (distance == 0 && !section->for_debuggers)) /* a distance of 0 marks a CIE */
        return CFI_DAMAGED;
    status = cfi_read_common_entry(section, section->for_debuggers ? distance : here - distance, &common);
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
    return run_cfi_program(&common, &entry, address, row);
}

static bool cfi_read_debug_row(const struct debug_frame *frame, uintptr_t address, struct cfi_row *row)
{
    const struct debug_frame_entry *entry = debug_frame_find(frame, address);
    const struct section section = {frame->bytes, frame->size, 0, true};
    return entry && cfi_read_entry_row(&section, entry->at, address, row) == CFI_ROW;
}

enum cfi_status cfi_read_row(const struct loadmap_module *module, uintptr_t address, struct cfi_row *row)
{
    const struct section view = cfi_section_of_view(module);
    uintptr_t at = 0;
    enum cfi_status status = cfi_find_table_entry(module, address, &at);
    if (status == CFI_ROW)
        status = cfi_read_entry_row(&view, at, address, row);
    bool uncovered = status == CFI_NO_TABLE || status == CFI_NO_ENTRY;
    return uncovered && cfi_read_debug_row(&module->debug_frame, address, row) ? CFI_ROW : status;
}
