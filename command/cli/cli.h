/* The commands of `blame`. Each gets its own arguments, with the command's name as argv[0], and returns the
 * exit status: 0 done, 1 the input could not be used, 2 wrong usage, 3 a limit was exceeded. */
#ifndef BLAME_COMMAND_CLI_CLI_H
#define BLAME_COMMAND_CLI_CLI_H

int cli_run(int argc, char **argv);
int cli_report(int argc, char **argv);
int cli_html(int argc, char **argv);
int cli_diff(int argc, char **argv);
int cli_stat(int argc, char **argv);
int cli_export(int argc, char **argv);
int cli_merge(int argc, char **argv);
int cli_snapshot(int argc, char **argv);
int cli_finish(int argc, char **argv);
int cli_lab(int argc, char **argv); /* runs db, scaling, tune, history, fold and lab */

enum { CLI_DONE = 0, CLI_BAD_INPUT = 1, CLI_BAD_USAGE = 2, CLI_WORSE = 3 };

#endif
