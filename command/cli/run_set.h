/* Several runs as operands of a command. A folder of profile directories stands for all runs in it. */
#ifndef BLAME_COMMAND_CLI_RUN_SET_H
#define BLAME_COMMAND_CLI_RUN_SET_H

#include <stdbool.h>
#include <stddef.h>

#include "command/profile/profile.h"
#include "command/cli/options.h"
#include "command/compare/compare.h"

enum run_set_view { VIEW_TOP_DOWN, VIEW_FLAT };
extern const struct option_word run_set_view[];

struct run_set {
    const char *command;
    char **name;
    const struct profile **profile;
    size_t count, name_room, profile_room;
};

/* Opens the profiles of an operand: a profile directory, a *.blame file, or a folder of profile directories,
 * in the order of their names. Returns false after a message. */
bool run_set_add(struct run_set *set, const char *operand);
bool run_set_add_all(struct run_set *set, const char *const *operand, int count);
#define RUN_SET_OPERANDS "profile directories, *.blame files or directories that contain profiles"
/* Calls take() for each profile of an operand, until take() returns false. */
bool run_set_each(const char *operand, bool (*take)(void *to, const char *path), void *to);
void run_set_free(struct run_set *set);

/* Adds the rows of all runs to `tree`, and the rows of their flat views to `flat`. Each may be NULL. */
void run_set_compare(const struct run_set *set, struct comparison *tree, struct comparison *flat);

#endif
