/* Runs a program once, under `blame run`, with a setting's variables, and judges how it ended. */
#ifndef BLAME_TUNE_TRY_H
#define BLAME_TUNE_TRY_H

#include <stdbool.h>

enum try_end {
    TRY_GOOD,
    TRY_STATUS,  /* it ended with another status than 0 */
    TRY_SIGNAL,  /* or by a signal */
    TRY_LIMIT,   /* it ran longer than it may, and was killed */
    TRY_WRONG,   /* the check command says that the result is wrong */
    TRY_STOPPED, /* by the user */
    TRY_NO_START,
};

struct try_request {
    const char *blame;        /* this command's file */
    char *const *program;     /* its name and arguments, NULL behind them */
    const char *variables;    /* "A=B", one a line */
    const char *profile;      /* directory that is made; its parent is ours, and gets files output and errors */
    const char *output, *errors;
    const char *check;        /* NULL: none */
    double limit_s;           /* 0: none */
    const volatile int *stop; /* not 0: the user wants an end */
};

struct try_result {
    enum try_end end;
    int number; /* the status or the signal */
    double seconds; /* wall time, from the program's start to its end */
};

struct try_result try_run(const struct try_request *request);
/* The same of another program, and of a command for the shell; their output goes where the others' does. */
struct try_result try_words(const struct try_request *request, char *const *words);
struct try_result try_shell(const struct try_request *request, const char *command);
/* "exit status 3", "killed by signal 11", "longer than the limit of 10 s" ...; malloc'ed */
char *try_result_words(const struct try_request *request, const struct try_result *result);

#endif
