/* Rows of call frame information from tables written here, good ones and damaged ones. */
#include "tests/unit/unit.h"

#include "tests/unit/cfi_edge.h"
#include "unwind/cfi.h"

#define VIEW_VADDR 0x10000u /* of the view's first byte, the header of the table */
#define CODE_VADDR 0x20000u
#define CODE_BYTES 0x1000u

/* ---- tables to order ---- */

static void put_bytes(const void *bytes, size_t count)
{
    assert_true(text.count + count <= EDGE_BYTES);
    memcpy(text.bytes + text.count, bytes, count);
    text.count += count;
}

static void end_entry(size_t begin)
{
    uint32_t bytes = (uint32_t)(text.count - begin - 4);
    memcpy(text.bytes + begin, &bytes, 4);
}

struct table {
    unsigned version;
    const char *augmentation;
    const char *data; /* of the augmentation */
    size_t data_bytes;
    unsigned encoding; /* of code addresses, as in data */
    const char *initial;
    size_t initial_bytes;
    unsigned return_column;
};

/* What GCC writes: code factor 1, data factor -8; CFA = rsp + 8, the return address at CFA - 8. */
#define INITIAL "\x0c\x07\x08\x90\x01"
static const struct table standard = {1, "zR", "\x1b", 1, 0x1b, INITIAL, 5, 16};

static void put_code_address(unsigned encoding, uint64_t address)
{
    uint64_t value = (encoding & 0x70) == 0x10 ? address - (VIEW_VADDR + text.count) : address;
    put(value, (encoding & 0xf) == 0 || (encoding & 0xf) == 4 || (encoding & 0xf) == 0xc ? 8 : 4);
}

/* A header with one entry, a common entry, and one for [CODE_VADDR, CODE_VADDR + CODE_BYTES). */
static void write_table(const struct table *table, const char *program, size_t bytes)
{
    text.count = 0;
    put(0x3b031b01, 4);
    put(0, 4);
    put(1, 4);
    put(CODE_VADDR - VIEW_VADDR, 4);
    put(0, 4); /* where the entry is: below */
    size_t common = text.count;
    put(0, 4);
    put(0, 4);
    put(table->version, 1);
    put_bytes(table->augmentation, strlen(table->augmentation) + 1);
    put(1, 1);
    put(0x78, 1);
    put(table->return_column, 1);
    if (table->augmentation[0] == 'z')
        put(table->data_bytes, 1);
    put_bytes(table->data, table->data_bytes);
    put_bytes(table->initial, table->initial_bytes);
    end_entry(common);
    size_t entry = text.count;
    put(0, 4);
    put(text.count - common, 4);
    put_code_address(table->encoding, CODE_VADDR);
    put_code_address(table->encoding & 0xf, CODE_BYTES);
    if (table->augmentation[0] == 'z')
        put(0, 1);
    put_bytes(program, bytes);
    end_entry(entry);
    memcpy(text.bytes + 16, &entry, 4);
}

static struct loadmap_module module_of(const void *view, size_t bytes)
{
    return (struct loadmap_module){
        .view = view, .view_vaddr = VIEW_VADDR, .view_bytes = bytes, .eh_frame_header = VIEW_VADDR, .path = "test"};
}

static enum cfi_status row_at(uintptr_t offset, struct cfi_row *row)
{
    struct loadmap_module module = module_of(at_the_edge(text.bytes, text.count), text.count);
    return cfi_read_row(&module, CODE_VADDR + offset, row);
}

/* ---- programs ---- */

struct program_case {
    const char *name, *bytes;
    size_t count;
    uintptr_t at; /* asked for */
    enum cfi_status status;
    uintptr_t start, end;
    struct cfi_rule cfa, rbp, return_address;
};

#define P(text)     text, sizeof(text) - 1
#define REG(n, k)   ((struct cfi_rule){CFI_REGISTER, n, {.offset = k}})
#define AT(k)       ((struct cfi_rule){CFI_AT_CFA, 0, {.offset = k}})
#define IS(k)       ((struct cfi_rule){CFI_IS_CFA, 0, {.offset = k}})
#define RULE(w)     ((struct cfi_rule){w, 0, {.offset = 0}})
#define EXPR(op, n) ((struct cfi_rule){op, n, {.offset = 0}})
#define RETURN      AT(-8)
#define SAME        RULE(CFI_SAME)
#define PUSHED      "\x41\x0e\x10\x86\x02" /* one byte on: def_cfa_offset 16, rbp at CFA - 16 */

/* What a program says of the byte `at`: a row of these bytes, by these rules; of all bytes; that it is no program. */
#define ROW(at, start, end, cfa, rbp) at, CFI_ROW, start, end, cfa, rbp, RETURN
#define WHOLE(cfa, rbp)               ROW(0, 0, 0x1000, cfa, rbp)
#define NONE(status)                  0, status, 0, 0, RULE(0), RULE(0), RULE(0)

static const struct program_case programs[] = {
    {"empty", P(""), WHOLE(REG(7, 8), SAME)},
    {"the last byte", P(""), ROW(0xfff, 0, 0x1000, REG(7, 8), SAME)},
    {"before the push", P(PUSHED), ROW(0, 0, 1, REG(7, 8), SAME)},
    {"behind the push", P(PUSHED), ROW(1, 1, 0x1000, REG(7, 16), AT(-16))},
    {"frame pointer", P(PUSHED "\x43\x0d\x06"), ROW(4, 4, 0x1000, REG(6, 16), AT(-16))},
    {"advance by one byte", P("\x02\xf0\x0e\x10"), ROW(0xf0, 0xf0, 0x1000, REG(7, 16), SAME)},
    {"advance by two bytes", P("\x03\xf0\x01\x0e\x10"), ROW(0, 0, 0x1f0, REG(7, 8), SAME)},
    {"advance by four bytes", P("\x04\xf0\x01\0\0\x0e\x10"), ROW(0x1f0, 0x1f0, 0x1000, REG(7, 16), SAME)},
    {"advance beyond the end", P("\x04\xff\xff\xff\xff\x0e\x10"), ROW(5, 0, 0x1000, REG(7, 8), SAME)},
    {"state remembered", P(PUSHED "\x42\x0a\x0e\x08\xc6\x41\x0b"), ROW(3, 3, 4, REG(7, 8), SAME)},
    {"state restored", P(PUSHED "\x42\x0a\x0e\x08\xc6\x41\x0b"), ROW(4, 4, 0x1000, REG(7, 16), AT(-16))},
    {"state restored twice", P("\x0a\x0b\x0b"), NONE(CFI_DAMAGED)},
    {"states remembered", P("\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0b"), WHOLE(REG(7, 8), SAME)},
    {"too many remembered", P("\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a"), NONE(CFI_FOREIGN)},
    {"restore, extended", P("\x86\x02\x06\x06"), WHOLE(REG(7, 8), SAME)},
    {"offset, extended", P("\x05\x06\x03"), WHOLE(REG(7, 8), AT(-24))},
    {"offset, signed", P("\x11\x06\x7f"), WHOLE(REG(7, 8), AT(8))},
    {"offset, GNU's negative", P("\x2f\x06\x02"), WHOLE(REG(7, 8), AT(16))},
    {"a value", P("\x14\x06\x02"), WHOLE(REG(7, 8), IS(-16))},
    {"a value, signed", P("\x15\x06\x7e"), WHOLE(REG(7, 8), IS(16))},
    {"in a register", P("\x09\x06\x03"), WHOLE(REG(7, 8), REG(3, 0))},
    {"no caller", P("\x07\x10"), 0, CFI_ROW, 0, 0x1000, REG(7, 8), SAME, RULE(CFI_UNDEFINED)},
    {"unchanged", P("\x86\x02\x08\x06"), WHOLE(REG(7, 8), SAME)},
    {"CFA, signed", P("\x12\x0a\x7e"), WHOLE(REG(10, 16), SAME)},
    {"CFA's offset, signed", P("\x13\x7d"), WHOLE(REG(7, 24), SAME)},
    {"a long number", P("\x0e\x80\x80\x80\x80\x08"), WHOLE(REG(7, 0x80000000), SAME)},
    {"a number of more bits than there are", P("\x12\x07\x80\x80\x80\x80\x80\x80\x80\x80\x80\x40"),
     WHOLE(REG(7, 0), SAME)},
    {"a number that does not end", P("\x0e\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"), NONE(CFI_DAMAGED)},
    {"an operand is missing", P("\x0c\x07"), NONE(CFI_DAMAGED)},
    {"an expression longer than the program", P("\x0f\x05\x76\x78\x06"), NONE(CFI_DAMAGED)},
    {"CFA by expression", P("\x0f\x03\x76\x78\x06"), WHOLE(EXPR(CFI_EXPRESSION, 3), SAME)},
    {"at an expression", P("\x10\x06\x02\x76\x00"), WHOLE(REG(7, 8), EXPR(CFI_AT_EXPRESSION, 2))},
    {"value of an expression", P("\x16\x06\x02\x76\x00"), WHOLE(REG(7, 8), EXPR(CFI_EXPRESSION, 2))},
    {"an offset for an expression", P("\x0f\x03\x76\x78\x06\x0e\x10"), NONE(CFI_DAMAGED)},
    {"a register for an expression", P("\x0f\x03\x76\x78\x06\x0d\x06"), NONE(CFI_DAMAGED)},
    {"size of arguments, no operation", P("\x2e\x20\0\0"), WHOLE(REG(7, 8), SAME)},
    {"an unknown instruction", P("\x3c"), NONE(CFI_FOREIGN)},
    {"an unknown instruction behind the row", P("\x44\x3c"), ROW(3, 0, 4, REG(7, 8), SAME)},
};

static void check_rule(const char *name, const char *what, const struct cfi_rule *is, const struct cfi_rule *want)
{
    bool expression = want->where == CFI_EXPRESSION || want->where == CFI_AT_EXPRESSION;
    if (is->where != want->where || is->number != want->number || (!expression && is->offset != want->offset))
        fail_msg("%s: %s: rule %u %u %ld, expected %u %u %ld", name, what, is->where, is->number, is->offset,
                 want->where, want->number, want->offset);
}

UNIT_TEST(programs_yield_the_row_for_an_address)
{
    for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
        const struct program_case *c = &programs[i];
        struct cfi_row row;
        write_table(&standard, c->bytes, c->count);
        enum cfi_status status = row_at(c->at, &row);
        if (status != c->status)
            fail_msg("%s: status %d, expected %d", c->name, status, c->status);
        if (status != CFI_ROW)
            continue;
        if (row.start != CODE_VADDR + c->start || row.end != CODE_VADDR + c->end)
            fail_msg("%s: row %#lx to %#lx", c->name, row.start - CODE_VADDR, row.end - CODE_VADDR);
        check_rule(c->name, "CFA", &row.cfa, &c->cfa);
        check_rule(c->name, "rbp", &row.rbp, &c->rbp);
        check_rule(c->name, "return address", &row.return_address, &c->return_address);
        assert_false(row.stack_rule || row.signal_frame);
    }
}

UNIT_TEST(a_location_may_be_set)
{
    static const struct table absolute = {1, "zR", "\0", 1, 0, INITIAL, 5, 16};
    struct cfi_row row;
    write_table(&absolute, P("\x01\x40\0\x02\0\0\0\0\0\x0e\x10"));
    assert_int_equal(row_at(0x3f, &row), CFI_ROW);
    assert_int_equal(row.end, CODE_VADDR + 0x40);
    assert_int_equal(row_at(0x40, &row), CFI_ROW);
    assert_int_equal(row.cfa.offset, 16);
    write_table(&absolute, P("\x44\x01\x03\0\x02\0\0\0\0\0\x0e\x10")); /* back */
    assert_int_equal(row_at(5, &row), CFI_DAMAGED);
}

UNIT_TEST(a_rule_for_the_stack_pointer_is_noted)
{
    struct cfi_row row;
    write_table(&standard, P("\x41\x87\x03\x41\xc7"));
    assert_int_equal(row_at(1, &row), CFI_ROW);
    assert_true(row.stack_rule);
    assert_int_equal(row_at(2, &row), CFI_ROW);
    assert_false(row.stack_rule);
}

/* ---- common entries ---- */

UNIT_TEST(common_entries_come_in_forms)
{
    static const struct {
        const char *name;
        struct table table;
        enum cfi_status status;
        bool signal_frame;
    } cases[] = {
        {"as GCC writes it", {1, "zR", P("\x1b"), 0x1b, P(INITIAL), 16}, CFI_ROW, false},
        {"with personality and data", {1, "zPLR", P("\x9b\0\0\0\0\x1b\x1b"), 0x1b, P(INITIAL), 16}, CFI_ROW, false},
        {"with a short personality", {1, "zPR", P("\x0a\0\0\x1b"), 0x1b, P(INITIAL), 16}, CFI_ROW, false},
        {"with no personality", {1, "zPR", P("\xff\x1b"), 0x1b, P(INITIAL), 16}, CFI_ROW, false},
        {"of a signal's frame", {1, "zRS", P("\x1b"), 0x1b, P(INITIAL), 16}, CFI_ROW, true},
        {"version 3", {3, "zR", P("\x1b"), 0x1b, P(INITIAL), 16}, CFI_ROW, false},
        {"absolute", {1, "", P(""), 0, P(INITIAL), 16}, CFI_ROW, false},
        {"absolute, four bytes", {1, "zR", P("\x03"), 0x03, P(INITIAL), 16}, CFI_ROW, false},
        {"relative, eight bytes", {1, "zR", P("\x1c"), 0x1c, P(INITIAL), 16}, CFI_ROW, false},
        {"another version", {4, "zR", P("\x1b"), 0x1b, P(INITIAL), 16}, CFI_FOREIGN, false},
        {"an old compiler's", {1, "eh", P(""), 0, P(INITIAL), 16}, CFI_FOREIGN, false},
        {"an unknown letter", {1, "zRX", P("\x1b"), 0x1b, P(INITIAL), 16}, CFI_FOREIGN, false},
        {"a long augmentation", {1, "zRSSSSSSS", P("\x1b"), 0x1b, P(INITIAL), 16}, CFI_FOREIGN, false},
        {"indirect addresses", {1, "zR", P("\x9b"), 0x1b, P(INITIAL), 16}, CFI_FOREIGN, false},
        {"an aligned personality", {1, "zPR", P("\x50\0\0\0\0\0\0\0\0\x1b"), 0x1b, P(INITIAL), 16}, CFI_FOREIGN, false},
        {"another return column", {1, "zR", P("\x1b"), 0x1b, P(INITIAL), 17}, CFI_FOREIGN, false},
        {"data too short", {1, "zRL", P("\x1b"), 0x1b, P(""), 16}, CFI_DAMAGED, false},
        {"initial advance", {1, "zR", P("\x1b"), 0x1b, P("\x41" INITIAL), 16}, CFI_DAMAGED, false},
        {"initial restore", {1, "zR", P("\x1b"), 0x1b, P("\xc6" INITIAL), 16}, CFI_DAMAGED, false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cfi_row row;
        write_table(&cases[i].table, P(PUSHED));
        enum cfi_status status = row_at(7, &row);
        if (status != cases[i].status)
            fail_msg("%s: status %d, expected %d", cases[i].name, status, cases[i].status);
        if (status == CFI_ROW && (row.signal_frame != cases[i].signal_frame || row.cfa.offset != 16))
            fail_msg("%s: not the row", cases[i].name);
    }
}

/* ---- what is no table ---- */

static void change(size_t at, unsigned char value, enum cfi_status expected)
{
    struct cfi_row row;
    write_table(&standard, P(PUSHED));
    text.bytes[at] = value;
    assert_int_equal(row_at(0, &row), expected);
}

UNIT_TEST(headers_are_checked)
{
    struct cfi_row row;
    change(0, 2, CFI_NO_TABLE);
    change(1, 0x1c, CFI_NO_TABLE);
    change(2, 0xff, CFI_NO_TABLE); /* as a linker leaves it that could not sort the entries */
    change(3, 0xff, CFI_NO_TABLE);
    change(8, 0, CFI_NO_ENTRY);
    change(10, 1, CFI_DAMAGED);     /* 65,537 entries */
    change(14, 0x02, CFI_NO_ENTRY); /* the first function begins later */
    change(18, 0x10, CFI_DAMAGED);  /* the entry is outside */
    change(20, 0xff, CFI_DAMAGED);  /* the common entry is longer than the table */
    write_table(&standard, P(PUSHED));
    assert_int_equal(row_at(CODE_BYTES, &row), CFI_NO_ENTRY);
    assert_int_equal(row_at(-(uintptr_t)1, &row), CFI_NO_ENTRY);
    struct loadmap_module module = module_of(NULL, 0);
    assert_int_equal(cfi_read_row(&module, CODE_VADDR, &row), CFI_NO_TABLE);
    module = module_of(text.bytes, text.count);
    module.eh_frame_header = 0;
    assert_int_equal(cfi_read_row(&module, CODE_VADDR, &row), CFI_NO_TABLE);
    module.eh_frame_header = VIEW_VADDR - 4;
    assert_int_equal(cfi_read_row(&module, CODE_VADDR, &row), CFI_DAMAGED);
}

UNIT_TEST(a_table_that_ends_early_is_not_read_beyond)
{
    struct cfi_row row;
    write_table(&standard, P(PUSHED));
    size_t whole = text.count;
    for (size_t count = 0; count < whole; count++) {
        text.count = count;
        assert_int_equal(row_at(7, &row), CFI_DAMAGED);
    }
}

/* A program of a length that no compiler writes is not run to its end: this takes as long as ever. */
UNIT_TEST(a_program_without_an_end_is_given_up)
{
    static const char nothing[500000];
    struct cfi_row row;
    write_table(&standard, nothing, sizeof(nothing));
    assert_int_equal(row_at(7, &row), CFI_FOREIGN);
    write_table(&standard, nothing, 50000);
    assert_int_equal(row_at(7, &row), CFI_ROW);
}

UNIT_MAIN(NULL, NULL)
