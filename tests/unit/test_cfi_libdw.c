/* Our reader of call frame information against libdw's, row by row, in the libraries of this machine. */
#include "base/module_flags.h"
#include "tests/unit/unit.h"

#include <dlfcn.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>

#include "unwind/cfi.h"
#include "unwind/cfi_bytes.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SLOW 1
#else
#define SLOW 0
#endif
#define MOST_ROWS   (SLOW ? 30000u : 2000000u) /* of one module, one after the other */
#define RANDOM_ROWS 20000u

struct module {
    const struct loadmap_module *map;
    int fd;
    Elf *elf;
    Dwarf_CFI *cfi;
    uint64_t rows, different, entries;
    uint64_t begin_earlier; /* libdw's rows: behind DW_CFA_restore_state they begin where the restored one did */
};

/* What is said of a row that differs, once a module. */
static bool differs(struct module *module, uintptr_t address, const char *what)
{
    if (module->different++ == 0)
        printf("  %s: %#lx: %s\n", module->map->path, address, what);
    return true;
}

/* libdw decodes expressions: the same operators with the same operands. */
static bool same_expression(const struct cfi_rule *rule, const Dwarf_Op *ops, size_t count)
{
    struct cfi_bytes bytes = {.at = rule->expression, .end = rule->expression + rule->number};
    for (size_t i = 0; i < count; i++) {
        unsigned atom = (unsigned)cfi_read_unsigned(&bytes, 1);
        uint64_t operand = 0;
        if (atom >= DW_OP_breg0 && atom <= DW_OP_breg31)
            operand = (uint64_t)cfi_read_sleb(&bytes);
        else if (atom == DW_OP_plus_uconst || atom == DW_OP_constu)
            operand = cfi_read_uleb(&bytes);
        else if (atom == DW_OP_const1u)
            operand = cfi_read_unsigned(&bytes, 1);
        else if (atom == DW_OP_const2u)
            operand = cfi_read_unsigned(&bytes, 2);
        if (bytes.failed || atom != ops[i].atom || operand != ops[i].number)
            return false;
    }
    return bytes.at == bytes.end;
}

static bool same_cfa(const struct cfi_rule *rule, const Dwarf_Op *ops, size_t count)
{
    if (rule->where == CFI_EXPRESSION)
        return same_expression(rule, ops, count);
    return rule->where == CFI_REGISTER && count == 1 && ops[0].atom == DW_OP_bregx && ops[0].number == rule->number &&
           (int64_t)ops[0].number2 == rule->offset;
}

static bool same_rule(const struct cfi_rule *rule, const Dwarf_Op *ops, size_t count)
{
    bool is_value = count > 0 && ops[count - 1].atom == DW_OP_stack_value;
    switch (rule->where) {
    case CFI_SAME:
        return count == 0 && !ops;
    case CFI_UNDEFINED:
        return count == 0 && ops;
    case CFI_REGISTER:
        return count == 1 && ops[0].atom == DW_OP_regx && ops[0].number == rule->number;
    case CFI_AT_CFA:
    case CFI_IS_CFA:
        if (is_value != (rule->where == CFI_IS_CFA) || count < 1 || ops[0].atom != DW_OP_call_frame_cfa)
            return false;
        if (rule->offset == 0)
            return count == 1 + (size_t)is_value;
        return count == 2 + (size_t)is_value && ops[1].atom == DW_OP_plus_uconst &&
               (int64_t)ops[1].number == rule->offset;
    case CFI_AT_EXPRESSION: /* which finds the CFA on its stack, says libdw */
        return !is_value && count > 1 && ops[0].atom == DW_OP_call_frame_cfa &&
               same_expression(rule, ops + 1, count - 1);
    case CFI_EXPRESSION:
        return is_value && count > 2 && ops[0].atom == DW_OP_call_frame_cfa &&
               same_expression(rule, ops + 1, count - 2);
    }
    return false;
}

/* True if libdw knows a row there too and it is the same. */
static bool is_same_row(struct module *module, uintptr_t address, const struct cfi_row *row)
{
    Dwarf_Frame *frame = NULL;
    Dwarf_Addr start, end;
    Dwarf_Op memory[3], *ops;
    size_t count;
    bool signal_frame;
    if (dwarf_cfi_addrframe(module->cfi, address, &frame) != 0)
        return !differs(module, address, dwarf_errmsg(-1));
    const char *what = NULL;
    if (dwarf_frame_info(frame, &start, &end, &signal_frame) != (int)CFI_RIP)
        what = "return column";
    else if (start > row->start || end != row->end)
        what = "range";
    else if (signal_frame != row->signal_frame)
        what = "signal frame";
    else if (dwarf_frame_cfa(frame, &ops, &count) != 0 || !same_cfa(&row->cfa, ops, count))
        what = "CFA";
    else if (dwarf_frame_register(frame, CFI_RBP, memory, &ops, &count) != 0 || !same_rule(&row->rbp, ops, count))
        what = "rbp";
    else if (dwarf_frame_register(frame, CFI_RIP, memory, &ops, &count) != 0 ||
             !same_rule(&row->return_address, ops, count))
        what = "return address";
    module->begin_earlier += start < row->start;
    free(frame);
    return !what || !differs(module, address, what);
}

static uintptr_t entry_address(const struct loadmap_module *map, size_t index, size_t *count)
{
    const char *header = map->view + (map->eh_frame_header - map->view_vaddr);
    uint32_t entries;
    int32_t start;
    memcpy(&entries, header + 8, sizeof(entries));
    memcpy(&start, header + 12 + 8 * index, sizeof(start));
    *count = entries;
    return map->eh_frame_header + (uintptr_t)(intptr_t)start;
}

static void compare_at(struct module *module, uintptr_t address, struct cfi_row *row)
{
    enum cfi_status status = cfi_read_row(module->map, address, row);
    if (status == CFI_ROW) {
        module->rows++;
        is_same_row(module, address, row);
        return;
    }
    Dwarf_Frame *frame = NULL;
    if (dwarf_cfi_addrframe(module->cfi, address, &frame) == 0)
        differs(module, address, "a row that we do not find");
    free(frame);
}

/* Every row of the functions from the first one on, then rows at random addresses between the first and the
 * last function. */
static void compare_module(struct module *module)
{
    uint64_t random_state = 88172645463325252ull;
    struct cfi_row row = {0};
    size_t count = 0;
    uintptr_t low = entry_address(module->map, 0, &count), high = entry_address(module->map, count - 1, &count);
    for (size_t i = 0; i < count && module->rows < MOST_ROWS; i++) {
        uintptr_t address = entry_address(module->map, i, &count);
        uintptr_t next = i + 1 < count ? entry_address(module->map, i + 1, &count) : UINTPTR_MAX;
        for (; address < next; address = row.end) {
            uint64_t before = module->rows;
            compare_at(module, address, &row);
            if (module->rows == before)
                break;                            /* the space behind a function */
            assert_int_equal(row.start, address); /* rows join up */
            assert_true(row.end > address);
        }
        module->entries++;
    }
    uint64_t each = module->rows;
    for (size_t i = 0; i < RANDOM_ROWS; i++)
        compare_at(module, low + unit_random(&random_state) % (high - low), &row);
    printf("%s: %lu of %zu functions, %lu rows, %lu at random, %lu different (%lu begin later than "
           "libdw's)\n",
           module->map->path, module->entries, count, each, module->rows - each, module->different,
           module->begin_earlier);
}

static bool open_module(struct module *module)
{
    module->fd = open(module->map->path, O_RDONLY);
    elf_version(EV_CURRENT);
    module->elf = module->map->flags & PROFILE_MODULE_VDSO
                      ? elf_memory((char *)module->map->view, module->map->view_bytes)
                      : elf_begin(module->fd, ELF_C_READ_MMAP, NULL);
    module->cfi = module->elf ? dwarf_getcfi_elf(module->elf) : NULL;
    return module->cfi != NULL;
}

static void compare_loaded(bool (*wanted)(const char *path), uint32_t at_least)
{
    uint32_t compared = 0;
    assert_true(loadmap_init());
    loadmap_refresh();
    for (uint32_t id = 1; id <= loadmap_module_count(); id++) {
        struct module module = {.map = loadmap_module(id), .fd = -1};
        if (!wanted(module.map->path) || !module.map->eh_frame_header)
            continue;
        assert_true(open_module(&module));
        compare_module(&module);
        dwarf_cfi_end(module.cfi);
        elf_end(module.elf);
        close(module.fd);
        assert_int_equal(module.different, 0);
        assert_true(module.rows > 10);
        compared++;
    }
    assert_true(compared >= at_least);
}

static bool is_llvm(const char *path)
{
    return strstr(path, "/libLLVM") != NULL;
}

static bool is_omp(const char *path)
{
    return strstr(path, "/libomp") != NULL;
}

static bool is_other(const char *path)
{
    return !is_llvm(path) && !is_omp(path);
}

UNIT_TEST(this_program_the_loader_libc_and_the_vdso)
{
    compare_loaded(is_other, 3);
}

/* Skipped where it is not installed; never unloaded: that ends in the runtime. */
static void compare_library(const char *const *names, bool (*wanted)(const char *path))
{
    void *library = NULL;
    for (; *names && !library; names++)
        library = dlopen(*names, RTLD_LAZY | RTLD_NODELETE);
    if (!library)
        skip();
    compare_loaded(wanted, 1);
}

UNIT_TEST(the_openmp_runtime)
{
    static const char *const names[] = {"/usr/lib/llvm-19/lib/libomp.so.5", "libomp.so.5", NULL};
    compare_library(names, is_omp);
}

UNIT_TEST(a_library_of_a_hundred_megabytes)
{
    static const char *const names[] = {"/usr/lib/llvm-19/lib/libLLVM.so.19.1", "libLLVM.so.19.1", NULL};
    compare_library(names, is_llvm);
}

UNIT_MAIN(NULL, NULL)
