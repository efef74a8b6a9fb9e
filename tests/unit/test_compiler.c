#include "ompt_tool/life/compiler.h"

#include <link.h>

#include "tests/unit/unit.h"

UNIT_TEST(this_program_says_which_gcc_built_it)
{
    char version[64] = "";
    bool told = compiler_version("/proc/self/exe", version, sizeof(version));
#if defined(__clang__)
    assert_false(told);
#else
    char wanted[64];
    snprintf(wanted, sizeof(wanted), "%d.%d.%d", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
    assert_true(told);
    assert_string_equal(version, wanted);
#endif
}

UNIT_TEST(a_file_without_a_note_has_no_version)
{
    static ElfW(Ehdr) header = {.e_ident = ELFMAG, .e_shentsize = sizeof(ElfW(Shdr)), .e_shnum = 3, .e_shoff = 1 << 20};
    char version[64];
    const char *path = unit_fresh_path();
    assert_false(compiler_version("/nowhere", version, sizeof(version)));
    FILE *file = fopen(path, "w");
    assert_int_equal(fwrite(&header, sizeof(header), 1, file), 1);
    fclose(file);
    assert_false(compiler_version(path, version, sizeof(version)));
    unit_clean();
}

UNIT_MAIN(NULL, NULL)
