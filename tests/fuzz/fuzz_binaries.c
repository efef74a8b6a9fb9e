/* needs: tests/fuzz/in_process.c tests/fuzz/command_lines.c tests/fuzz/changes.c tests/fuzz/seed_binaries.c tests/fuzz/profile_builder.c */
/* libs: -Wl,--wrap=exit */
/* fuzz_binaries COUNT SEED [PATTERN]: whole commands over programs that are changed, as guided_binaries.c does it: what was found, and COUNT / 10 more. */
#include "tests/fuzz/guided_binaries.c"
#include "tests/fuzz/replay.h"

int main(int argc, char **argv)
{
    return replay_main(argc, argv, "tests/fuzz/corpus/guided_binaries/*", "tests/fuzz/corpus/guided_binaries.hex");
}
