/* needs: tests/differential/code_gcc_O2_debugger.c tests/differential/code_clang_O2_debugger.c */

/* .debug_frame: sections written here, good ones and damaged ones, and this program's own, whose functions of
 * tests/differential have nothing else. */
#include "tests/unit/unit.h"

#include <elfutils/libdw.h>
#include <fcntl.h>

#include "base/clock.h"
#include "tests/differential/code.h"
#include "tests/unit/cfi_edge.h"
#include "unwind/recipe.h"

extern const struct code_variant code_gcc_O2_debugger, code_clang_O2_debugger;
void (*code_in_handler)(void);
char code_stack[2][CODE_STACK_BYTES];

#define LOW  0x1000u
#define HIGH 0x9000u

/* ---- sections to order ---- */

/* An entry's begin, with lengths of 32 or 64 bits; the end fills in the length. */
static size_t begin(bool wide, uint64_t common)
{
    size_t at = text.count;
    if (wide)
        put(0xffffffff, 4);
    put(0, wide ? 8 : 4);
    put(common, wide ? 8 : 4);
    return at;
}

static void end(size_t at, bool wide)
{
    uint64_t bytes = text.count - at - (wide ? 12 : 4);
    memcpy(text.bytes + at + (wide ? 4 : 0), &bytes, wide ? 8 : 4);
}

/* CFA = rsp + 8, the return address at CFA - 8. */
static size_t put_common(bool wide, unsigned version)
{
    size_t at = begin(wide, wide ? UINT64_MAX : UINT32_MAX);
    put(version, 1);
    put(0, 1); /* no augmentation */
    if (version == 4)
        put(8, 2);
    put(1, 1);
    put(0x78, 1);
    put(16, 1);
    put(0x019008070c, 5);
    end(at, wide);
    return at;
}

/* [start, start + 0x100), from the fourth byte on CFA = rsp + `offset`. */
static void put_function(bool wide, size_t common, uint64_t start, unsigned offset)
{
    size_t at = begin(wide, common);
    put(start, 8);
    put(0x100, 8);
    put(0x0e44 | offset << 16, 3); /* advance by 4; def_cfa_offset */
    end(at, wide);
}

static struct loadmap_module module_of(const void *bytes, size_t count)
{
    return (struct loadmap_module){.debug_frame = debug_frame_index(bytes, count, LOW, HIGH), .path = "test"};
}

static struct loadmap_module module_of_text(void)
{
    return module_of(at_the_edge(text.bytes, text.count), text.count);
}

static void check_row(const struct loadmap_module *module, uintptr_t address, uintptr_t start, uintptr_t end,
                      int offset)
{
    struct cfi_row row;
    assert_int_equal(cfi_read_row(module, address, &row), CFI_ROW);
    assert_int_equal(row.start, start);
    assert_int_equal(row.end, end);
    assert_int_equal(row.cfa.number, CFI_RSP);
    assert_int_equal(row.cfa.offset, offset);
    assert_int_equal(row.return_address.offset, -8);
    assert_true(row.for_debuggers);
}

static void check_none(const struct loadmap_module *module, uintptr_t address)
{
    struct cfi_row row;
    assert_int_equal(cfi_read_row(module, address, &row), CFI_NO_TABLE);
}

UNIT_TEST(entries_come_in_forms)
{
    static const unsigned versions[] = {1, 3, 4};
    for (size_t i = 0; i < 6; i++) {
        bool wide = i >= 3;
        text.count = 0;
        put(0, 4); /* padding */
        size_t common = put_common(wide, versions[i % 3]);
        put_function(wide, common, 0x2000, 32);
        const struct loadmap_module module = module_of_text();
        check_row(&module, 0x2000, 0x2000, 0x2004, 8);
        check_row(&module, 0x20ff, 0x2004, 0x2100, 32);
        check_none(&module, 0x1fff);
        check_none(&module, 0x2100);
    }
}

UNIT_TEST(entries_stand_in_any_order)
{
    static const unsigned order[] = {5, 1, 7, 3, 2, 6, 4};
    text.count = 0;
    size_t common = put_common(false, 1);
    for (size_t i = 0; i < 7; i++)
        put_function(false, common, order[i] << 12, 8 * order[i]);
    const struct loadmap_module module = module_of_text();
    assert_int_equal(module.debug_frame.count, 7);
    for (unsigned i = 1; i <= 7; i++)
        check_row(&module, (i << 12) + 4, (i << 12) + 4, (i << 12) + 0x100, (int)(8 * i));
}

UNIT_TEST(what_the_linker_dropped_is_left_out)
{
    text.count = 0;
    size_t common = put_common(false, 1);
    put_function(false, common, 0, 32);
    put_function(false, common, HIGH, 32);
    put_function(false, common, LOW, 32);
    const struct loadmap_module module = module_of_text();
    assert_int_equal(module.debug_frame.count, 1);
    check_row(&module, LOW, LOW, LOW + 4, 8);
    const struct debug_frame from_zero = debug_frame_index(text.bytes, text.count, 0, HIGH);
    assert_int_equal(from_zero.count, 1);
}

UNIT_TEST(a_section_that_ends_early_keeps_what_is_whole)
{
    text.count = 0;
    size_t common = put_common(false, 1);
    put_function(false, common, 0x2000, 32);
    size_t first = text.count;
    put_function(false, common, 0x3000, 32);
    for (size_t whole = text.count; text.count > 0; text.count--) {
        const struct loadmap_module module = module_of_text();
        assert_int_equal(module.debug_frame.count, text.count == whole ? 2 : text.count >= first ? 1 : 0);
        if (text.count >= first)
            check_row(&module, 0x2000, 0x2000, 0x2004, 8);
    }
}

UNIT_TEST(what_is_not_understood_is_no_row)
{
    static const struct {
        size_t at; /* in the common entry */
        unsigned char value;
    } changes[] = {{4, 0}, {8, 2}, {8, 4}, {9, 'z'}, {12, 17}, {0, 0xff}};
    for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
        text.count = 0;
        size_t common = put_common(false, 1);
        put_function(false, common, 0x2000, 32);
        struct loadmap_module module = module_of_text();
        check_row(&module, 0x2000, 0x2000, 0x2004, 8);
        ((unsigned char *)(uintptr_t)module.debug_frame.bytes)[changes[i].at] = changes[i].value;
        check_none(&module, 0x2000);
    }
}

/* libunwind is not given the section: such a frame is left as one without call frame information. */
UNIT_TEST(a_row_that_no_recipe_says_is_none)
{
    text.count = 0;
    size_t common = put_common(false, 1), at = begin(false, common);
    put(0x2000, 8);
    put(0x100, 8);
    put(0x0a0d44, 3); /* def_cfa_register: r10 */
    end(at, false);
    const struct loadmap_module module = module_of_text();
    assert_int_equal(recipe_read(&module, 0x2000).cfa, RECIPE_CFA_RSP);
    const struct recipe recipe = recipe_read(&module, 0x2004);
    assert_int_equal(recipe.cfa, RECIPE_SLOW);
    assert_int_equal(recipe.cfa_offset, RECIPE_NO_ENTRY);
}

/* ---- this program's own ---- */

static const struct loadmap_module *own_module(void)
{
    assert_true(loadmap_init());
    const struct loadmap_range *range = loadmap_find((uintptr_t)own_module);
    const struct loadmap_module *module = range ? loadmap_module(range->module_id) : NULL;
    assert_true(module && module->debug_frame.count > 20);
    return module;
}

static bool same_cfa(const struct cfi_row *row, const Dwarf_Op *ops, size_t count)
{
    if (row->cfa.where != CFI_REGISTER)
        return row->cfa.where == CFI_EXPRESSION && count > 1;
    return count == 1 && ops[0].atom == 0x92 && ops[0].number == row->cfa.number &&
           (int64_t)ops[0].number2 == row->cfa.offset;
}

/* The row at the address, which libdw has, too. */
static struct cfi_row compare_row(const struct loadmap_module *module, Dwarf_CFI *cfi, uintptr_t address)
{
    struct cfi_row row;
    Dwarf_Frame *frame = NULL;
    Dwarf_Addr start, end;
    Dwarf_Op *ops;
    size_t count;
    assert_int_equal(cfi_read_row(module, address, &row), CFI_ROW);
    assert_int_equal(dwarf_cfi_addrframe(cfi, address, &frame), 0);
    assert_int_equal(dwarf_frame_info(frame, &start, &end, NULL), CFI_RIP);
    assert_int_equal(row.end, end);
    assert_int_equal(dwarf_frame_cfa(frame, &ops, &count), 0);
    assert_true(same_cfa(&row, ops, count));
    free(frame);
    return row;
}

UNIT_TEST(rows_are_libdws)
{
    const struct loadmap_module *module = own_module();
    int fd = open("/proc/self/exe", O_RDONLY);
    Dwarf *dwarf = dwarf_begin(fd, DWARF_C_READ);
    Dwarf_CFI *cfi = dwarf ? dwarf_getcfi(dwarf) : NULL;
    size_t rows = 0, recipes = 0;
    assert_non_null(cfi);
    for (size_t i = 0; i < module->debug_frame.count; i++) {
        uintptr_t address = module->debug_frame.entries[i].start;
        struct cfi_row row;
        for (; cfi_read_row(module, address, &row) == CFI_ROW && row.for_debuggers; address = row.end, rows++) {
            compare_row(module, cfi, address);
            recipes += recipe_read(module, address).cfa != RECIPE_SLOW;
        }
    }
    printf("%zu functions, %zu rows, %zu of them recipes\n", module->debug_frame.count, rows, recipes);
    assert_true(rows > 100 && recipes * 20 > rows * 19);
    dwarf_end(dwarf);
    close(fd);
}

/* ---- damage ---- */

static void check_bounds(const struct debug_frame *frame, const struct cfi_rule *rule)
{
    if (rule->where != CFI_EXPRESSION && rule->where != CFI_AT_EXPRESSION)
        return;
    size_t offset = (size_t)(rule->expression - frame->bytes);
    assert_true(offset <= frame->size && rule->number <= frame->size - offset);
}

static size_t read_damaged(const struct loadmap_module *whole, uint64_t *random)
{
    static unsigned char copy[EDGE_BYTES];
    size_t bytes = whole->debug_frame.size < EDGE_BYTES ? whole->debug_frame.size : EDGE_BYTES, rows = 0;
    memcpy(copy, whole->debug_frame.bytes, bytes);
    for (uint64_t n = unit_random(random) % 100; n > 0; n--)
        copy[unit_random(random) % bytes] = (unsigned char)unit_random(random);
    if (unit_random(random) % 4 == 0)
        bytes -= unit_random(random) % bytes;
    const struct loadmap_module module = {
        .debug_frame = debug_frame_index(at_the_edge(copy, bytes), bytes, whole->vaddr_low, whole->vaddr_high)};
    for (int i = 0; i < 1000; i++) {
        uintptr_t address = unit_random(random) % (whole->vaddr_high + 4096);
        struct cfi_row row;
        if (cfi_read_row(&module, address, &row) != CFI_ROW)
            continue;
        rows++;
        assert_true(row.start <= address && address < row.end);
        check_bounds(&module.debug_frame, &row.cfa);
        check_bounds(&module.debug_frame, &row.rbp);
        check_bounds(&module.debug_frame, &row.return_address);
    }
    return rows;
}

UNIT_TEST(a_damaged_section_does_no_harm)
{
    const struct loadmap_module *module = own_module();
    uint64_t random = 88172645463325252ull, end_ns = clock_now_ns() + NS_PER_S;
    size_t rows = 0;
    for (int round = 0; round < 100 || (round < 1000 && clock_now_ns() < end_ns); round++)
        rows += read_damaged(module, &random);
    assert_true(rows > 0);
}

/* Section headers of this program, changed at random. */
UNIT_TEST(a_damaged_file_does_no_harm)
{
    static unsigned char file[8 << 20];
    uint64_t random = 88172645463325252ull;
    int own = open("/proc/self/exe", O_RDONLY), fd = open("/tmp", O_TMPFILE | O_RDWR, 0600);
    ssize_t bytes = read(own, file, sizeof(file));
    struct debug_frame_room room;
    Elf64_Ehdr elf;
    memcpy(&elf, file, sizeof(elf));
    assert_true(bytes > 0 && (size_t)bytes < sizeof(file) && fd >= 0);
    assert_int_equal(write(fd, file, (size_t)bytes), bytes);
    assert_true(debug_frame_read(fd, &elf, 0, UINTPTR_MAX, 1 << 20, &room).count > 20);
    assert_int_equal(debug_frame_read(fd, &elf, 0, UINTPTR_MAX, 100, &room).count, 0);
    for (int round = 0; round < 300; round++) {
        Elf64_Ehdr damaged = elf;
        unsigned char headers[64 * 64];
        size_t all = elf.e_shnum * 64u < sizeof(headers) ? elf.e_shnum * 64u : sizeof(headers);
        memcpy(headers, file + elf.e_shoff, all);
        for (uint64_t n = unit_random(&random) % 20; n > 0; n--)
            headers[unit_random(&random) % all] = (unsigned char)unit_random(&random);
        if (round % 4 == 0)
            ((unsigned char *)&damaged)[40 + unit_random(&random) % 24] = (unsigned char)unit_random(&random);
        assert_int_equal(pwrite(fd, headers, all, (off_t)elf.e_shoff), (ssize_t)all);
        struct debug_frame frame = debug_frame_read(fd, &damaged, 0, UINTPTR_MAX, 1 << 20, &room);
        assert_true(frame.count <= frame.size / 16);
    }
    close(own);
    close(fd);
}

UNIT_MAIN(NULL, NULL)
