#include "unwind/cfi_program.h"

/* The longest program seen, in libclang-cpp.so.19.1, has 6,324 instructions; one state is remembered at most. */
#define MAX_INSTRUCTIONS 100000u
#define MAX_REMEMBERED   8u

/* Call frame instructions; the first three have an operand in their low six bits. */
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
    OP_SIGNS_RETURN_ADDRESS = 0x2d, /* or no longer: it is cut off of every one */
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
    bool in_entry;                /* the initial instructions are over: `initial` is valid */
    uintptr_t wanted, start, end; /* the row's range, as far as is known */
    enum cfi_status status;       /* CFI_ROW: all is well so far */
};

static int64_t scaled(uint64_t value, int64_t factor)
{
    return (int64_t)(value * (uint64_t)factor);
}

static void set(struct machine *machine, uint64_t column, struct cfi_rule rule)
{
    if (column == CFI_RBP)
        machine->now.rbp = rule;
    else if (column == CFI_RIP)
        machine->now.return_address = rule;
    else if (column == CFI_RSP)
        machine->now.stack_rule = true;
}

static void set_offset(struct machine *machine, uint64_t column, enum cfi_where where, int64_t offset)
{
    set(machine, column, (struct cfi_rule){.where = where, .offset = offset});
}

static void set_expression(struct machine *machine, uint64_t column, enum cfi_where where,
                           struct cfi_bytes text)
{
    set(machine, column, (struct cfi_rule){where, (uint32_t)cfi_bytes_left(&text), {.expression = text.at}});
}

static void restore(struct machine *machine, uint64_t column)
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

/* True when the row ends before the new location: the program is done. */
static bool advance_to(struct machine *machine, uintptr_t location)
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

static bool advance(struct machine *machine, uint64_t delta)
{
    return advance_to(machine, machine->start + delta * machine->common->code_factor);
}

static void remember_state(struct machine *machine)
{
    if (machine->remembered_count == MAX_REMEMBERED)
        machine->status = CFI_FOREIGN;
    else
        machine->remembered[machine->remembered_count++] = machine->now;
}

static void restore_state(struct machine *machine)
{
    if (machine->remembered_count == 0)
        machine->status = CFI_DAMAGED;
    else
        machine->now = machine->remembered[--machine->remembered_count];
}

static void define_cfa(struct machine *machine, uint64_t number, int64_t offset)
{
    if (number > UINT32_MAX)
        machine->status = CFI_DAMAGED;
    machine->now.cfa = (struct cfi_rule){CFI_REGISTER, (uint32_t)number, {.offset = offset}};
}

static void change_cfa_offset(struct machine *machine, int64_t offset)
{
    if (machine->now.cfa.where != CFI_REGISTER)
        machine->status = CFI_DAMAGED;
    machine->now.cfa.offset = offset;
}

static void change_cfa_register(struct machine *machine, uint64_t number)
{
    if (machine->now.cfa.where != CFI_REGISTER || number > UINT32_MAX)
        machine->status = CFI_DAMAGED;
    machine->now.cfa.number = (uint32_t)number;
}

static struct cfi_bytes read_block(struct cfi_bytes *program)
{
    return cfi_take(program, cfi_read_uleb(program));
}

static void execute_cfa(struct machine *machine, struct cfi_bytes *program, unsigned opcode)
{
    int64_t factor = machine->common->data_factor;
    struct cfi_bytes block;
    uint64_t number;
    switch (opcode) {
    case OP_DEF_CFA:
        number = cfi_read_uleb(program);
        define_cfa(machine, number, (int64_t)cfi_read_uleb(program));
        break;
    case OP_DEF_CFA_SF:
        number = cfi_read_uleb(program);
        define_cfa(machine, number, scaled((uint64_t)cfi_read_sleb(program), factor));
        break;
    case OP_DEF_CFA_REGISTER:
        change_cfa_register(machine, cfi_read_uleb(program));
        break;
    case OP_DEF_CFA_OFFSET:
        change_cfa_offset(machine, (int64_t)cfi_read_uleb(program));
        break;
    case OP_DEF_CFA_OFFSET_SF:
        change_cfa_offset(machine, scaled((uint64_t)cfi_read_sleb(program), factor));
        break;
    case OP_DEF_CFA_EXPRESSION:
        block = read_block(program);
        machine->now.cfa =
            (struct cfi_rule){CFI_EXPRESSION, (uint32_t)cfi_bytes_left(&block), {.expression = block.at}};
        break;
    }
}

static void execute_rule(struct machine *machine, struct cfi_bytes *program, unsigned opcode)
{
    int64_t factor = machine->common->data_factor;
    uint64_t column = cfi_read_uleb(program);
    switch (opcode) {
    case OP_OFFSET_EXTENDED:
        set_offset(machine, column, CFI_AT_CFA, scaled(cfi_read_uleb(program), factor));
        break;
    case OP_OFFSET_EXTENDED_SF:
        set_offset(machine, column, CFI_AT_CFA, scaled((uint64_t)cfi_read_sleb(program), factor));
        break;
    case OP_GNU_NEGATIVE_OFFSET:
        set_offset(machine, column, CFI_AT_CFA, scaled(0 - cfi_read_uleb(program), factor));
        break;
    case OP_VAL_OFFSET:
        set_offset(machine, column, CFI_IS_CFA, scaled(cfi_read_uleb(program), factor));
        break;
    case OP_VAL_OFFSET_SF:
        set_offset(machine, column, CFI_IS_CFA, scaled((uint64_t)cfi_read_sleb(program), factor));
        break;
    case OP_RESTORE_EXTENDED:
        restore(machine, column);
        break;
    case OP_UNDEFINED:
        set_offset(machine, column, CFI_UNDEFINED, 0);
        break;
    case OP_SAME_VALUE:
        set_offset(machine, column, CFI_SAME, 0);
        break;
    case OP_REGISTER:
        set(machine, column, (struct cfi_rule){CFI_REGISTER, (uint32_t)cfi_read_uleb(program), {0}});
        break;
    case OP_EXPRESSION:
        set_expression(machine, column, CFI_AT_EXPRESSION, read_block(program));
        break;
    case OP_VAL_EXPRESSION:
        set_expression(machine, column, CFI_EXPRESSION, read_block(program));
        break;
    }
}

/* One instruction; true when the row is complete. */
static bool execute(struct machine *machine, struct cfi_bytes *program)
{
    unsigned opcode = (unsigned)cfi_read_unsigned(program, 1), operand = opcode & 0x3f;
    switch (opcode & 0xc0) {
    case OP_ADVANCE:
        return advance(machine, operand);
    case OP_OFFSET:
        set_offset(machine, operand, CFI_AT_CFA,
                   scaled(cfi_read_uleb(program), machine->common->data_factor));
        return false;
    case OP_RESTORE:
        restore(machine, operand);
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
        return advance_to(machine, cfi_read_code_address(program, machine->common->encoding));
    case OP_ADVANCE_1:
        return advance(machine, cfi_read_unsigned(program, 1));
    case OP_ADVANCE_2:
        return advance(machine, cfi_read_unsigned(program, 2));
    case OP_ADVANCE_4:
        return advance(machine, cfi_read_unsigned(program, 4));
    case OP_REMEMBER_STATE:
        remember_state(machine);
        return false;
    case OP_RESTORE_STATE:
        restore_state(machine);
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
        execute_cfa(machine, program, opcode);
        return false;
    }
    if (opcode <= OP_VAL_EXPRESSION || opcode == OP_GNU_NEGATIVE_OFFSET)
        execute_rule(machine, program, opcode);
    else
        machine->status = CFI_FOREIGN;
    return false;
}

/* To the program's end or the row's. */
static void run(struct machine *machine, struct cfi_bytes program)
{
    while (program.at < program.end && machine->status == CFI_ROW) {
        if (machine->instructions++ == MAX_INSTRUCTIONS)
            machine->status = CFI_FOREIGN;
        else if (execute(machine, &program))
            break;
    }
    if (program.failed)
        machine->status = CFI_DAMAGED;
}

enum cfi_status cfi_run_program(const struct cfi_common *common, const struct cfi_bytes *program,
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
    run(&machine, common->program);
    machine.initial = machine.now;
    machine.in_entry = true;
    run(&machine, *program);
    row->start = machine.start;
    row->end = machine.end;
    row->cfa = machine.now.cfa;
    row->rbp = machine.now.rbp;
    row->return_address = machine.now.return_address;
    row->stack_rule = machine.now.stack_rule;
    row->signal_frame = common->signal_frame;
    return machine.status;
}
