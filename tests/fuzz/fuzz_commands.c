/* needs: tests/fuzz/in_process.c tests/fuzz/command_lines.c tests/fuzz/changes.c tests/fuzz/commands_edits.c tests/fuzz/profile_builder.c */
/* libs: -Wl,--wrap=exit */
/* fuzz_commands COUNT SEED [PATTERN]: whole commands over measurement files that are changed, as guided_commands.c does it: what was found, and COUNT / 10 more. */
#include "tests/fuzz/guided_commands.c"
#include "tests/fuzz/replay.h"

int main(int argc, char **argv)
{
    return replay_main(argc, argv, "tests/fuzz/corpus/guided_commands/*", "tests/fuzz/corpus/guided_commands.hex");
}
