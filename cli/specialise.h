/* `blame tune --specialise`: learns from searches that are in the database; nothing is run. */
#ifndef BLAME_CLI_SPECIALISE_H
#define BLAME_CLI_SPECIALISE_H

struct specialise_request {
    const char *database;
    const char *application; /* NULL: the only one that was searched for */
    const char *file;        /* FILE.h, and FILE.sh beside it */
    int wait_s;
};

/* Returns an exit status: CLI_WORSE and no file where what is learned does no better than the default. */
int cli_specialise(const struct specialise_request *request);

#endif
