/* The commands of `blame` that read files, as users type them, for fuzzers: in a folder where `in`, `base` and `more` are profiles, the latter
 * two good ones of different numbers of threads, and `job` a job's directory. What is written is `made` or `made.blame`. */
#ifndef BLAME_TESTS_FUZZ_COMMAND_LINES_H
#define BLAME_TESTS_FUZZ_COMMAND_LINES_H

#include <stddef.h>

struct command_line {
    const char *text;
    int (*run)(int argc, char **argv);
};

#define COMMAND_LINES 52
extern const struct command_line command_lines[];

/* Its exit status. */
int command_line_run(const struct command_line *line);

#endif
