/* programs: names (tests/names.mk) */
#include "command/symbols/symbols.h"
#include "test_symbols_variants.h"

/* Whether some address of a function has a frame of this name on this line. */
static bool has_frame(struct variant *variant, const char *function, const char *name, int line)
{
    GElf_Sym symbol = variant_symbol(variant, function, 0);
    const struct symbol_frame *frames;
    for (uint64_t vaddr = symbol.st_value; vaddr < symbol.st_value + symbol.st_size; vaddr++) {
        size_t count = variant_lookup(variant, vaddr, &frames);
        for (size_t i = 0; i < count; i++)
            if (strcmp(frames[i].name, name) == 0 && frames[i].line == line &&
                strstr(frames[i].file, "names_lambdas.cc"))
                return true;
    }
    return false;
}

UNIT_TEST(inlined_lambdas_of_one_function_have_names_of_their_own)
{
    struct variant variant;
    variant_open(&variant, "names_lambdas-gcc-O2");
    assert_true(has_frame(&variant, "main", "main::operator() [lambda names_lambdas.cc:17]", 17));
    assert_true(has_frame(&variant, "main", "main::operator() [lambda names_lambdas.cc:18]", 18));
    assert_true(has_frame(&variant, "main", "main::operator() [lambda names_lambdas.cc:19]", 19));
    assert_true(has_frame(&variant, "main", "main::operator()::operator() [lambda names_lambdas.cc:19]", 19));
    assert_true(
        has_frame(&variant, "main", "(anonymous namespace)::apart::operator() [lambda names_lambdas.cc:12]", 12));
    variant_close(&variant);
}

UNIT_TEST(names_in_a_unit_that_others_share_keep_their_namespace)
{
    struct variant variant;
    const struct symbol_frame *frames;
    variant_open(&variant, "names_shared");
    size_t count = variant_lookup(&variant, variant_symbol(&variant, "names_shared", 0).st_value + 2, &frames);
    assert_int_equal(count, 2);
    assert_string_equal(frames[0].name, "ns::inlined");
    variant_close(&variant);
}

static void check_scope(const char *variant_name, const char *symbol, const char *expected, bool folds)
{
    struct variant variant;
    const struct symbol_frame *frames;
    variant_open(&variant, variant_name);
    size_t count = variant_at(&variant, symbol, 0, 0, &frames);
    assert_string_equal(frames[count - 1].name, expected);
    assert_int_equal(frames[count - 1].merge_into_caller, folds);
    variant_close(&variant);
}

UNIT_TEST(fortran_procedures_are_named_with_their_modules_and_hosts)
{
    check_scope("names_scopes-gfortran-O0", "__ma_MOD_step", "ma::step", false);
    check_scope("names_scopes-gfortran-O0", "__mb_MOD_step", "mb::step", false);
    check_scope("names_scopes-gfortran-O0", "inner.0", "ma::outer::inner", false);
    check_scope("names_scopes-gfortran-O0", "own.1", "own", false);
    check_scope("names_scopes-flang-O0", "_QMmaPstep", "ma::step", false);
    check_scope("names_scopes-flang-O0", "_QMmbPstep", "mb::step", false);
    check_scope("names_scopes-flang-O0", "_QMmaFouterPinner", "ma::outer::inner", false);
}

/* The function that does the work of a procedure and its ENTRYs is the procedure's; it is no row of its own below that. */
UNIT_TEST(fortran_entries_have_the_names_of_the_source)
{
    check_scope("names_scopes-gfortran-O0", "master.0.whole_", "mb::whole", true);
    check_scope("names_scopes-gfortran-O0", "__mb_MOD_whole", "mb::whole", false);
    check_scope("names_scopes-gfortran-O0", "__mb_MOD_part", "mb::part", false);
    check_scope("names_scopes-flang-O0", "_QMmbPpart", "mb::part", false);
}

static void check_split(const char *name, const char *said)
{
    struct variant variant;
    const struct symbol_frame *frames;
    variant_open(&variant, name);
    assert_null(symbols_changes(variant.symbols));
    variant_at(&variant, "relax", 0, 0, &frames);
    assert_string_equal(frames->name, "relax");
    char *text = symbols_changes(variant.symbols);
    if (said)
        assert_non_null(strstr(text, said));
    else
        assert_null(text);
    free(text);
    variant_close(&variant);
}

UNIT_TEST(split_debug_information_that_is_not_there_is_told)
{
    check_split("names_c-gcc-split", NULL);
    check_split("names_c-gcc-lost", "names_c-gcc-lost: inlined functions are missing, because ");
    check_split("names_c-gcc-lost", "names_c-gcc-lost.dwo cannot be read");
}

UNIT_TEST(package_of_split_debug_information_is_told)
{
    check_split("names_c-gcc-packed", "names_c-gcc-packed.dwp, a format that this libdw cannot read");
}

UNIT_MAIN(NULL, NULL)
