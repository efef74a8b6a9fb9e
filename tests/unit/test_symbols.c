/* programs: names (tests/names.mk) */
#include "command/symbols/symbols.h"
#include "test_symbols_variants.h"

/* ---- constructs ---- */

struct expected {
    const char *symbol; /* prefix of the outlined function's symbol */
    int number;         /* which of those, by address */
    const char *name;
    enum symbol_construct construct;
    int line;
    bool uncertain, folds;
};

static void check_construct(struct variant *variant, const char *file, const struct expected *expected)
{
    const struct symbol_frame *frames;
    GElf_Sym symbol = variant_symbol(variant, expected->symbol, expected->number);
    for (uint64_t vaddr = symbol.st_value; vaddr < symbol.st_value + symbol.st_size; vaddr++) {
        size_t count = variant_lookup(variant, vaddr, &frames);
        const struct symbol_frame *frame = &frames[count - 1];
        if (strcmp(frame->name, expected->name) != 0) {
            fail_msg("%s: %s+0x%x is \"%s\", expected \"%s\"", variant->path, expected->symbol,
                     (int)(vaddr - symbol.st_value), frame->name, expected->name);
        }
        assert_int_equal(frame->construct, expected->construct);
        assert_int_equal(frame->construct_uncertain, expected->uncertain);
        assert_int_equal(frame->merge_into_caller, expected->folds);
        assert_int_equal(frame->line, expected->line);
        assert_ends_with(frame->file, expected->line ? file : "");
        if (expected->uncertain)
            assert_non_null(strstr(frame->task_name, " [task"));
        else
            assert_string_equal(frame->task_name, "");
        /* One construct is one row: nothing inlined here is another name of it. */
        for (const struct symbol_frame *inner = frames; inner < frame; inner++) {
            assert_string_not_equal(inner->name, frame->name);
            assert_null(strstr(inner->name, "omp_"));
        }
    }
}

static void check_constructs(const char *name, const char *file, const struct expected *expected, size_t count)
{
    struct variant variant;
    variant_open(&variant, name);
    for (size_t i = 0; i < count; i++)
        check_construct(&variant, file, &expected[i]);
    variant_close(&variant);
}

#define CHECK(name, file, list) check_constructs(name, file, list, sizeof list / sizeof *list)

static const struct expected clang_tasks[] = {
    {".omp_task_entry.", 0, "fib [task names_c.c:43]", SYMBOL_TASK, 43, false, false},
    {".omp_task_entry.", 1, "fib [task names_c.c:48]", SYMBOL_TASK, 48, false, false},
    {".omp_task_entry.", 2, "taskloops [task names_c.c:76]", SYMBOL_TASK, 76, false, false},
};

static const struct expected clang_regions[] = {
    {"relax.omp_outlined", 0, "relax [parallel names_c.c:29]", SYMBOL_PARALLEL, 29, false, false},
    {"nested.omp_outlined_debug__.omp_outlined", 0, "nested [parallel names_c.c:62]", SYMBOL_PARALLEL, 62, false,
     false},
    {"nested.omp_outlined", 1, "nested [parallel names_c.c:59]", SYMBOL_PARALLEL, 59, false, false},
    {"taskloops.omp_outlined", 0, "taskloops [parallel names_c.c:73]", SYMBOL_PARALLEL, 73, false, false},
    {"leagues.omp_outlined", 0, "leagues [parallel names_c.c:86]", SYMBOL_PARALLEL, 86, false, false},
    {"leagues.omp_outlined", 1, "leagues [parallel names_c.c:86]", SYMBOL_PARALLEL, 86, false, false},
    {"criticals.omp_outlined", 0, "criticals [parallel names_c.c:95]", SYMBOL_PARALLEL, 95, false, false},
    {"main.omp_outlined", 0, "main [parallel names_c.c:111]", SYMBOL_PARALLEL, 111, false, false},
};

UNIT_TEST(clang_names_constructs_at_O2)
{
    CHECK("names_c-clang-O2", "names_c.c", clang_tasks);
    CHECK("names_c-clang-O2", "names_c.c", clang_regions);
    CHECK("names_c-clang-dwarf4", "names_c.c", clang_tasks);
    CHECK("names_c-clang-dwarf4", "names_c.c", clang_regions);
    CHECK("names_c-clang-nopie", "names_c.c", clang_tasks);
    CHECK("names_c-clang-nopie", "names_c.c", clang_regions);
}

UNIT_TEST(clang_inner_function_folds_into_its_caller_at_O0)
{
    static const struct expected pairs[] = {
        {"relax.omp_outlined_debug__", 0, "relax [parallel names_c.c:29]", SYMBOL_PARALLEL, 29, false, true},
        {"relax.omp_outlined", 1, "relax [parallel names_c.c:29]", SYMBOL_PARALLEL, 29, false, false},
        {"nested.omp_outlined_debug__", 0, "nested [parallel names_c.c:59]", SYMBOL_PARALLEL, 59, false, true},
        {"nested.omp_outlined_debug__.omp_outlined_debug__", 0, "nested [parallel names_c.c:62]", SYMBOL_PARALLEL, 62,
         false, true},
        {"nested.omp_outlined_debug__.omp_outlined", 1, "nested [parallel names_c.c:62]", SYMBOL_PARALLEL, 62, false,
         false},
        {"main.omp_outlined_debug__", 0, "main [parallel names_c.c:111]", SYMBOL_PARALLEL, 111, false, true},
    };
    CHECK("names_c-clang-O0", "names_c.c", pairs);
    CHECK("names_c-clang-O0", "names_c.c", clang_tasks);
}

UNIT_TEST(clang_line_tables_alone_name_constructs)
{
    static const struct expected nested[] = {
        {"nested.omp_outlined.omp_outlined", 0, "nested [parallel names_c.c:62]", SYMBOL_PARALLEL, 62, false, false},
        {"relax.omp_outlined", 0, "relax [parallel names_c.c:29]", SYMBOL_PARALLEL, 29, false, false},
    };
    CHECK("names_c-clang-g1", "names_c.c", clang_tasks);
    CHECK("names_c-clang-g1", "names_c.c", nested);
}

UNIT_TEST(constructs_of_one_symbol_in_two_files_are_two)
{
    static const struct expected one = {
        "relax.omp_outlined", 0, "relax [parallel names_c.c:29]", SYMBOL_PARALLEL, 29, false, false};
    static const struct expected other = {
        "relax.omp_outlined", 1, "relax [parallel names_more.c:6]", SYMBOL_PARALLEL, 6, false, false};
    struct variant variant;
    variant_open(&variant, "names_c-clang-g1-more");
    check_construct(&variant, "names_c.c", &one);
    check_construct(&variant, "names_more.c", &other);
    variant_close(&variant);
}

/* Before clang 17 no outlined function carries its host's name. */
UNIT_TEST(old_clang_hosts_are_found_by_line)
{
    static const struct expected regions[] = {
        {".omp_outlined.", 0, "relax [parallel names_c.c:29]", SYMBOL_PARALLEL, 29, false, false},
        {".omp_outlined.", 1, "nested [parallel names_c.c:62]", SYMBOL_PARALLEL, 62, false, false},
        {".omp_outlined.", 2, "nested [parallel names_c.c:59]", SYMBOL_PARALLEL, 59, false, false},
        {".omp_outlined.", 3, "taskloops [parallel names_c.c:73]", SYMBOL_PARALLEL, 73, false, false},
    };
    static const struct expected inner[] = {
        {".omp_outlined._debug__", 0, "relax [parallel names_c.c:29]", SYMBOL_PARALLEL, 29, false, true},
        {".omp_outlined._debug__", 1, "nested [parallel names_c.c:59]", SYMBOL_PARALLEL, 59, false, true},
    };
    CHECK("names_c-oldclang-O2", "names_c.c", regions);
    CHECK("names_c-oldclang-O2", "names_c.c", clang_tasks);
    CHECK("names_c-oldclang-O0", "names_c.c", inner);
    CHECK("names_c-oldclang-O0", "names_c.c", clang_tasks);
}

UNIT_TEST(gcc_call_sites_tell_tasks_from_regions)
{
    static const struct expected all[] = {
        {"relax._omp_fn.0", 0, "relax [parallel names_c.c:29]", SYMBOL_PARALLEL, 29, false, false},
        {"fib._omp_fn.0", 0, "fib [task names_c.c:43]", SYMBOL_TASK, 43, false, false},
        {"fib._omp_fn.1", 0, "fib [task names_c.c:48]", SYMBOL_TASK, 48, false, false},
        {"nested._omp_fn.0", 0, "nested [parallel names_c.c:59]", SYMBOL_PARALLEL, 59, false, false},
        {"nested._omp_fn.1", 0, "nested [parallel names_c.c:62]", SYMBOL_PARALLEL, 62, false, false},
        {"taskloops._omp_fn.1", 0, "taskloops [task names_c.c:76]", SYMBOL_TASK, 76, false, false},
        {"leagues._omp_fn.0", 0, "leagues [parallel names_c.c:86]", SYMBOL_PARALLEL, 86, false, false},
        {"main._omp_fn.0", 0, "main [parallel names_c.c:111]", SYMBOL_PARALLEL, 111, false, false},
        {"creates_in_loop._omp_fn.1", 0, "creates_in_loop [task names_c.c:132]", SYMBOL_TASK, 132, false, false},
    };
    CHECK("names_c-gcc-O2", "names_c.c", all);
    CHECK("names_c-gcc-gz", "names_c.c", all);
    CHECK("names_c-gcc-nopie", "names_c.c", all);
    CHECK("names_c-gcc-noid", "names_c.c", all);
}

UNIT_TEST(gcc_at_O0_has_no_call_sites_but_its_code_tells_the_kind)
{
    static const struct expected all[] = {
        {"relax._omp_fn.0", 0, "relax [parallel names_c.c:29]", SYMBOL_PARALLEL, 29, false, false},
        {"fib._omp_fn.1", 0, "fib [task names_c.c:48]", SYMBOL_TASK, 48, false, false},
        {"taskloops._omp_fn.1", 0, "taskloops [task names_c.c:76]", SYMBOL_TASK, 76, false, false},
    };
    CHECK("names_c-gcc-O0", "names_c.c", all);
}

UNIT_TEST(cxx_constructs_carry_demangled_hosts)
{
    static const struct expected clang[] = {
        {".omp_task_entry.", 0, "grids::spawn(int) [task names_cxx.cc:43]", SYMBOL_TASK, 43, false, false},
        {"_ZN5grids4MeshIdE5relaxEd.omp_outlined", 0, "grids::Mesh<double>::relax(double) [parallel names_cxx.cc:23]",
         SYMBOL_PARALLEL, 23, false, false},
        {"_ZZN12_GLOBAL__N_16hiddenEdENK3$_0clEd.omp_outlined", 0,
         "(anonymous namespace)::hidden(double)::$_0::operator()(double) const [parallel names_cxx.cc:60]",
         SYMBOL_PARALLEL, 60, false, false},
    };
    static const struct expected gcc[] = {
        {"_ZN5grids5spawnEi._omp_fn.0", 0, "grids::spawn(int) [task names_cxx.cc:43]", SYMBOL_TASK, 43, false, false},
        {"_ZN5grids4MeshIdE5relaxEd._omp_fn.0", 0, "grids::Mesh<double>::relax(double) [parallel names_cxx.cc:23]",
         SYMBOL_PARALLEL, 23, false, false},
        {"_ZZN12_GLOBAL__N_16hiddenEdENKUldE_clEd._omp_fn.0", 0,
         "(anonymous namespace)::hidden(double)::{lambda(double)#1}::operator()(double) const [parallel "
         "names_cxx.cc:60]",
         SYMBOL_PARALLEL, 60, false, false},
    };
    CHECK("names_cxx-clang-O2", "names_cxx.cc", clang);
    CHECK("names_cxx-gcc-O2", "names_cxx.cc", gcc);
}

UNIT_TEST(gfortran_constructs)
{
    static const struct expected optimized[] = {
        {"__solver_MOD_smooth._omp_fn.0", 0, "solver::smooth [parallel names_fortran.f90:11]", SYMBOL_PARALLEL, 11,
         false, false},
        {"__solver_MOD_walk._omp_fn.0", 0, "solver::walk [task names_fortran.f90:21]", SYMBOL_TASK, 21, false, false},
        {"outside_._omp_fn.0", 0, "outside [parallel names_fortran.f90:35]", SYMBOL_PARALLEL, 35, false, false},
        {"MAIN__._omp_fn.0", 0, "names [parallel names_fortran.f90:51]", SYMBOL_PARALLEL, 51, false, false},
        {"inside.0._omp_fn.0", 0, "inside [parallel names_fortran.f90:61]", SYMBOL_PARALLEL, 61, false, false},
    };
    static const struct expected plain[] = {
        {"__solver_MOD_walk._omp_fn.0", 0, "solver::walk [task names_fortran.f90:21]", SYMBOL_TASK, 21, false, false},
        {"inside.0._omp_fn.0", 0, "inside [parallel names_fortran.f90:61]", SYMBOL_PARALLEL, 61, false, false},
    };
    CHECK("names_fortran-gfortran-O2", "names_fortran.f90", optimized);
    CHECK("names_fortran-gfortran-O0", "names_fortran.f90", plain);
}

UNIT_TEST(flang_constructs)
{
    static const struct expected all[] = {
        {"_QMsolverPsmooth..omp_par", 0, "solver::smooth [parallel names_fortran.f90:11]", SYMBOL_PARALLEL, 11, false,
         false},
        {"_QMsolverPwalk..omp_par", 0, "solver::walk [task names_fortran.f90:21]", SYMBOL_TASK, 21, false, false},
        {"later_..omp_par", 0, "later [task names_fortran.f90:80]", SYMBOL_TASK, 80, false, false},
        {"outside_..omp_par", 0, "outside [parallel names_fortran.f90:35]", SYMBOL_PARALLEL, 35, false, false},
        {"_QQmain..omp_par", 0, "MAIN__ [parallel names_fortran.f90:51]", SYMBOL_PARALLEL, 51, false, false},
        {"_QFPinside..omp_par", 0, "inside [parallel names_fortran.f90:61]", SYMBOL_PARALLEL, 61, false, false},
    };
    CHECK("names_fortran-flang-O0", "names_fortran.f90", all);
    CHECK("names_fortran-flang-O2", "names_fortran.f90", all);
}

/* The copy has the kind and the line of the function, which has code of its own, too. */
UNIT_TEST(an_undeferred_task_that_flang_inlines_is_a_task)
{
    struct variant variant;
    const struct symbol_frame *frames;
    int found = 0;
    variant_open(&variant, "names_fortran-flang-O2");
    GElf_Sym host = variant_symbol(&variant, "later_", 0);
    for (uint64_t vaddr = host.st_value; vaddr < host.st_value + host.st_size; vaddr++)
        for (size_t i = variant_lookup(&variant, vaddr, &frames) - 1; i-- > 0;)
            if (frames[i].construct != SYMBOL_PROCEDURE) {
                assert_string_equal(frames[i].name, "later [task names_fortran.f90:80]");
                found++;
            }
    assert_true(found > 0);
    variant_close(&variant);
}

UNIT_TEST(without_debug_information_constructs_have_no_line)
{
    static const struct expected clang[] = {
        {"relax.omp_outlined", 0, "relax [parallel]", SYMBOL_PARALLEL, 0, false, false},
        {"nested.omp_outlined.omp_outlined", 0, "nested [parallel]", SYMBOL_PARALLEL, 0, false, false},
        {".omp_task_entry.", 0, "[task]", SYMBOL_TASK, 0, false, false},
    };
    static const struct expected gcc[] = {
        {"fib._omp_fn.0", 0, "fib [parallel]", SYMBOL_PARALLEL, 0, true, false},
    };
    static const struct expected gxx[] = {
        {"_ZN5grids5spawnEi._omp_fn.0", 0, "grids::spawn(int) [parallel]", SYMBOL_PARALLEL, 0, true, false},
    };
    static const struct expected gfortran[] = {
        {"__solver_MOD_smooth._omp_fn.0", 0, "solver::smooth [parallel]", SYMBOL_PARALLEL, 0, true, false},
        {"inside.0._omp_fn.0", 0, "inside [parallel]", SYMBOL_PARALLEL, 0, true, false},
    };
    static const struct expected flang[] = {
        {"_QMsolverPwalk..omp_par", 0, "solver::walk [parallel]", SYMBOL_PARALLEL, 0, true, false},
        {"_QQmain..omp_par", 0, "MAIN__ [parallel]", SYMBOL_PARALLEL, 0, true, false},
    };
    CHECK("names_c-clang-nodebug", "names_c.c", clang);
    CHECK("names_c-gcc-nodebug", "names_c.c", gcc);
    CHECK("names_cxx-gcc-nodebug", "names_cxx.cc", gxx);
    CHECK("names_fortran-gfortran-nodebug", "names_fortran.f90", gfortran);
    CHECK("names_fortran-flang-nodebug", "names_fortran.f90", flang);
}

UNIT_TEST(parse_knows_the_parts_of_an_outlined_name)
{
    assert_int_equal(symbols_construct_parse("relax").kind, SYMBOL_PROCEDURE);
    assert_int_equal(symbols_construct_parse("relax.cold").kind, SYMBOL_PROCEDURE);
    assert_int_equal(symbols_construct_parse(".omp_task_privates_map.").kind, SYMBOL_PROCEDURE);
    assert_int_equal(symbols_construct_parse("relax.omp_outlined.7").stem, 5);
    assert_false(symbols_construct_parse("a.omp_outlined_debug__.omp_outlined").inner);
    assert_true(symbols_construct_parse("a.omp_outlined_debug__.omp_outlined_debug__.3").inner);
    assert_true(symbols_construct_parse(".omp_outlined._debug__.3").inner);
    assert_int_equal(symbols_construct_parse("_QMsolverPwalk..omp_par.2").stem, 14);
    assert_int_equal(symbols_construct_parse("main.DIR.OMP.TASK.2.split5").kind, SYMBOL_TASK);
}

/* ---- functions, inlined functions, lines ---- */

static void check_inlined(const char *name)
{
    struct variant variant;
    const struct symbol_frame *frames;
    variant_open(&variant, name);
    assert_int_equal(variant_at(&variant, "plain_function", 0, 11, &frames), 3);
    assert_string_equal(frames[0].name, "inner_square");
    assert_string_equal(frames[1].name, "middle_scale");
    assert_string_equal(frames[2].name, "plain_function");
    assert_int_equal(frames[0].line, 9);
    assert_int_equal(frames[1].line, 14);
    assert_int_equal(frames[2].line, 20);
    assert_int_equal(frames[1].at_line, 16);
    assert_int_equal(frames[2].at_line, 22);
    for (int i = 0; i < 3; i++) {
        assert_ends_with(frames[i].file, "/names_c.c");
        assert_ends_with(frames[i].at_file, "/names_c.c");
        assert_int_equal(frames[i].construct, SYMBOL_PROCEDURE);
    }
    variant_close(&variant);
}

UNIT_TEST(inlined_functions_are_rows_with_their_call_lines)
{
    check_inlined("names_c-clang-O0");
    check_inlined("names_c-clang-O2");
    check_inlined("names_c-clang-dwarf4");
    check_inlined("names_c-gcc-O0");
    check_inlined("names_c-gcc-O2");
    check_inlined("names_c-gcc-gz");
    check_inlined("names_c-gcc-split");
}

UNIT_TEST(a_construct_is_placed_where_its_inner_function_stands)
{
    struct variant variant;
    const struct symbol_frame *frames;
    variant_open(&variant, "names_c-clang-O2");
    size_t count = variant_at(&variant, "relax.omp_outlined", 0, 32, &frames);
    assert_int_equal(count, 1);
    assert_string_equal(frames[0].host_name, "relax");
    assert_ends_with(frames[0].at_file, "/names_c.c");
    variant_close(&variant);
}

static void check_name(const char *variant_name, const char *symbol, const char *expected, int line)
{
    struct variant variant;
    const struct symbol_frame *frames;
    variant_open(&variant, variant_name);
    size_t count = variant_at(&variant, symbol, 0, 0, &frames);
    assert_string_equal(frames[count - 1].name, expected);
    assert_int_equal(frames[count - 1].line, line);
    variant_close(&variant);
}

UNIT_TEST(cxx_functions_are_demangled_with_parameters)
{
    check_name("names_cxx-clang-O2", "_ZN5grids5spawnEi", "grids::spawn(int)", 41);
    check_name("names_cxx-gcc-O0", "_ZN5grids4MeshIdE5relaxEd", "grids::Mesh<double>::relax(double)", 20);
    check_name("names_cxx-gcc-O2", "_ZNK5grids4MeshIdE5totalERKSt6vectorIiSaIiEE",
               "grids::Mesh<double>::total(std::vector<int, std::allocator<int> > const&) const", 31);
    /* GCC gives a function with internal linkage no linkage name; the clone's symbol has it. */
    check_name("names_cxx-gcc-O2", "_ZN12_GLOBAL__N_16hiddenEd", "(anonymous namespace)::hidden(double)", 57);
    check_name("names_cxx-gcc-nodebug", "_ZN12_GLOBAL__N_16hiddenEd", "(anonymous namespace)::hidden(double)", 0);
    check_name("names_cxx-clang-O2", "main", "main", 72);
}

UNIT_TEST(fortran_procedures_are_named_as_in_the_source)
{
    check_name("names_fortran-gfortran-O0", "__solver_MOD_smooth", "solver::smooth", 7);
    check_name("names_fortran-gfortran-O0", "outside_", "outside", 30);
    check_name("names_fortran-gfortran-O0", "MAIN__", "names", 44);
    check_name("names_fortran-gfortran-O0", "inside.0", "inside", 59);
    check_name("names_fortran-flang-O2", "_QMsolverPsmooth", "solver::smooth", 7);
    check_name("names_fortran-flang-O0", "_QFPinside", "inside", 59);
    check_name("names_fortran-flang-O0", "_QQmain", "MAIN__", 44);
    check_name("names_fortran-gfortran-nodebug", "__solver_MOD_walk", "solver::walk", 0);
    check_name("names_fortran-gfortran-nodebug", "__solver_MOD_walk._omp_cpyfn", "solver::walk [firstprivate copy]", 0);
}

UNIT_TEST(demangling_leaves_other_names_alone)
{
    static const char *const pairs[][2] = {
        {"main", "main"},
        {"_ZN3foo3barEi", "foo::bar(int)"},
        {"_Z3fooIiET_S0_", "foo<int>(int)"}, /* no return type */
        {"_Znot mangled", "_Znot mangled"},
        /* GCC's coroutines */
        {"_Z5fibrePZ5fibreiE15_Z5fibrei.Frame.actor", "fibre(int) [clone .actor]"},
        {"_ZN1n12_GLOBAL__N_13hidEPZNS0_3hidEPF1TiEE36_ZN1n12_GLOBAL__N_13hidEPF1TiE.Frame.destroy",
         "n::(anonymous namespace)::hid(T (*)(int)) [clone .destroy]"},
        {"_ZZ4mainENUliE_clEPZZ4mainENKS_clEiE26_ZZ4mainENKUliE_clEi.Frame.actor",
         "main::{lambda(int)#1}::operator()(int) const [clone .actor]"},
        {"_ZN1r6locked17h086b0cfd890a8ea9E", "r::locked"}, /* Rust's two schemes */
        {"_ZN40_$LT$T$u20$as$u20$core..fmt..Display$GT$3fmt17h086b0cfd890a8ea9E", "<T as core::fmt::Display>::fmt"},
        {"_RNvCs1234_7mycrate3foo", "mycrate::foo"},
        {"_Run", "_Run"},
        {"__libc_start_main", "__libc_start_main"},
        {"__solver_MOD_smooth", "solver::smooth"},
        {"_QMsolverPsmooth", "solver::smooth"},
        {"_QMaSbPc_d", "a::b::c_d"},
        {"_QFPinside", "inside"},
        {"_QFouterPinner", "outer::inner"},
        {"_QQmain", "MAIN__"},
        {"_Quick", "_Quick"},
        {"_Q", "_Q"},
        {"dgemm_", "dgemm_"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        char *name = symbols_demangle(pairs[i][0]);
        assert_string_equal(name, pairs[i][1]);
        free(name);
    }
}

UNIT_TEST(clone_suffixes_are_dropped)
{
    assert_int_equal(symbols_name_stem("solve"), 5);
    assert_int_equal(symbols_name_stem("solve.cold"), 5);
    assert_int_equal(symbols_name_stem("solve.isra.0.constprop.12.cold"), 5);
    assert_int_equal(symbols_name_stem("solve.part.0"), 5);
    assert_int_equal(symbols_name_stem("solve.llvm.12345678901234567890"), 5);
    assert_int_equal(symbols_name_stem("inside.0"), 6);
    assert_int_equal(symbols_name_stem("memcpy.avx2"), 11);
    assert_int_equal(symbols_name_stem(".omp_task_entry..3"), 18);
}

UNIT_MAIN(NULL, NULL)
