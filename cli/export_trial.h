/* `blame export --format trial`: runs as JSON lines, one after the other, or laid over one another. */
#ifndef BLAME_CLI_EXPORT_TRIAL_H
#define BLAME_CLI_EXPORT_TRIAL_H

#include <stdbool.h>
#include <stdio.h>

struct trial_request {
    const char *const *operand; /* profiles, or folders of them */
    int operand_count;
    int common; /* enum run_set_view: contexts have the same numbers in all runs, of this view; -1: each run has its own */
    bool sums;  /* nothing of threads and ranks */
};

/* Returns an exit status of cli/cli.h. A profile that cannot be read does not keep the others out, unless they are laid over one another. */
int trial_export(const struct trial_request *request, const char *output);

#endif
