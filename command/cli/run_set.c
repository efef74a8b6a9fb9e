#include "command/cli/run_set.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/cli/job_files.h"
#include "command/cli/open_profile.h"
#include "command/compare/statistics.h"
#include "command/rows/rows.h"
#include "command/text/memory.h"
#include "command/views/arrange.h"

const struct option_word run_set_view[] = {
    {"top-down", "contexts: functions by their callers (default)"},
    {"flat", "functions, whoever calls them"},
    {NULL, NULL},
};

static int is_visible_entry(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* Lists a folder's entries, sorted by the numbers in their names: run.10 follows run.9. Returns their number,
 * 0 if the folder cannot be read. */
static int list_entries_by_number(const char *path, struct dirent ***entries, int (*select)(const struct dirent *))
{
    int count = scandir(path, entries, select, versionsort);
    return count < 0 ? 0 : count;
}

static void free_listed_entries(struct dirent **entries, int count)
{
    for (int i = 0; i < count; i++)
        free(entries[i]);
    free(entries);
}

static bool has_measurement(const char *path)
{
    struct dirent **entries = NULL;
    int count = list_entries_by_number(path, &entries, is_measurement);
    free_listed_entries(entries, count);
    return count > 0;
}

static bool add_run_to_set(void *to, const char *path)
{
    struct run_set *set = to;
    if (set->count == STATISTICS_RUNS) {
        fprintf(stderr, "blame %s: %s: at most %d runs can be compared; give fewer\n", set->command, path,
                STATISTICS_RUNS);
        return false;
    }
    memory_grow(&set->name, &set->name_room, set->count, sizeof *set->name);
    memory_grow(&set->profile, &set->profile_room, set->count, sizeof *set->profile);
    struct profile *profile = open_profile(set->command, path);
    if (!profile)
        return false;
    set->name[set->count] = memory_text("%s", path);
    set->profile[set->count++] = profile;
    return true;
}

/* Calls take() for each profile directory in a folder. *any becomes true if there is one. */
static bool each_profile_below(const char *folder, bool (*take)(void *to, const char *path), void *to, bool *any)
{
    struct dirent **entries = NULL;
    int count = list_entries_by_number(folder, &entries, is_visible_entry);
    size_t length = strlen(folder);
    bool good = true;
    for (int i = 0; good && i < count; i++) {
        char *path = memory_text("%s%s%s", folder, length && folder[length - 1] == '/' ? "" : "/", entries[i]->d_name);
        if (has_measurement(path)) {
            *any = true;
            good = take(to, path);
        }
        free(path);
    }
    free_listed_entries(entries, count);
    return good;
}

bool run_set_each(const char *operand, bool (*take)(void *to, const char *path), void *to)
{
    bool any = false;
    if (!has_measurement(operand)) {
        if (!each_profile_below(operand, take, to, &any))
            return false;
        if (any)
            return true;
    }
    return take(to, operand);
}

bool run_set_add(struct run_set *set, const char *operand)
{
    return run_set_each(operand, add_run_to_set, set);
}

bool run_set_add_all(struct run_set *set, const char *const *operand, int count)
{
    for (int i = 0; i < count; i++)
        if (!run_set_add(set, operand[i]))
            return false;
    return true;
}

void run_set_free(struct run_set *set)
{
    for (size_t i = 0; i < set->count; i++) {
        profile_free((struct profile *)set->profile[i]);
        free(set->name[i]);
    }
    free(set->name);
    free(set->profile);
}

static void compare_run(const struct run_set *set, size_t run, struct comparison *tree, struct comparison *flat)
{
    const struct profile *profile = set->profile[run];
    struct symbols *symbols = recall_symbols(set->command, profile);
    struct rows *rows = rows_build(profile, symbols);
    keep_symbols(set->command, profile, rows, symbols);
    struct rows *view = flat ? view_flat(rows, FLAT_FUNCTION, METRIC_IDLENESS) : NULL;
    if (tree)
        comparison_add(tree, run, rows);
    if (flat)
        comparison_add(flat, run, view);
    rows_free(view);
    rows_free(rows);
    symbols_close(symbols);
}

void run_set_compare(const struct run_set *set, struct comparison *tree, struct comparison *flat)
{
    for (size_t run = 0; run < set->count; run++)
        compare_run(set, run, tree, flat);
}
