/* Puts a run into a database. */
#ifndef BLAME_TRIALS_ADD_H
#define BLAME_TRIALS_ADD_H

#include "trials/database.h"
#include "trials/input.h"

enum trial_added {
    TRIAL_NEW,
    TRIAL_THERE,    /* it was there, as it is */
    TRIAL_RENEWED,  /* it was there with less: it ran on since, or more ranks came */
    TRIAL_OUTDATED, /* it is there with more; it stays */
};

struct trial_result {
    enum trial_added added;
    long long trial;
    char run[17];
    bool named;          /* of one that was there: its experiment, or what is said of it, was changed */
    char *other_program; /* of an application that has trials of a program with another name: that; malloc'ed */
};

/* Whole or not at all. False: why. */
bool trial_add(struct database *database, const struct trial_input *input, struct trial_result *result);

#endif
