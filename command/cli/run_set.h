/* Operands that may each mean several runs: a folder of profile directories is all of them. */
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

/* Opens what the operand means: a profile directory, a *.blame file, or a folder whose folders are profile
 * directories, in the order of their names. false after a message. */
bool run_set_add(struct run_set *set, const char *operand);
bool run_set_add_all(struct run_set *set, const char *const *operand, int count);
#define RUN_SET_OPERANDS "profile directories, *.blame files or folders of profile directories"
/* The same of what takes profiles by name: each until one is not taken. */
bool run_set_each(const char *operand, bool (*take)(void *to, const char *path), void *to);
void run_set_free(struct run_set *set);

/* Lays rows of all runs over one another: their trees, their flat views, or both; NULL: not wanted. */
void run_set_compare(const struct run_set *set, struct comparison *tree, struct comparison *flat);

#endif
