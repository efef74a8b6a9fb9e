/* A database of HPCToolkit's, as hpcviewer opens it. */
#include "export/hpctoolkit.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "export/export.h"
#include "report/profile/pair_map.h"
#include "report/text/memory.h"

static const char UNKNOWN_FILE[] = "<unknown file>"; /* lines must have one */

static uint32_t add_context(struct hpc_contexts *contexts, struct hpc_context context)
{
    memory_grow(&contexts->context, &contexts->room, contexts->count, sizeof *contexts->context);
    uint32_t number = (uint32_t)contexts->count++;
    contexts->context[number] = context;
    if (number <= HPC_ENTRY)
        return number;
    struct hpc_context *parent = &contexts->context[context.parent];
    if (parent->first)
        contexts->context[parent->last].next = number;
    else
        parent->first = number;
    parent->last = number;
    return number;
}

static uint32_t find_line(struct hpc_contexts *contexts, struct pair_map *lines, uint32_t parent, const char *file, int line)
{
    if (!*file)
        file = UNKNOWN_FILE;
    /* The text of files is interned: one address, one file. */
    uint32_t *slot = pair_map_slot(lines, (uint64_t)parent << 32 | (uint32_t)line, (uintptr_t)file);
    if (*slot == PAIR_MAP_NEW)
        *slot = add_context(contexts, (struct hpc_context){.parent = parent, .row = ROW_NONE, .file = file, .line = line});
    return *slot;
}

void hpc_contexts_make(struct hpc_contexts *contexts, const struct rows *rows)
{
    struct pair_map lines = {0};
    *contexts = (struct hpc_contexts){.rows = rows, .of_row = memory_array(rows->count, sizeof *contexts->of_row)};
    add_context(contexts, (struct hpc_context){0});
    contexts->of_row[0] = add_context(contexts, (struct hpc_context){0});
    for (uint32_t i = 1; i < rows->count; i++) {
        const struct row *row = &rows->row[i];
        uint32_t parent = contexts->of_row[row->parent];
        const char *called_in = rows->row[row->parent].label->file;
        if (row->kind == ROW_STATEMENT) {
            contexts->of_row[i] = find_line(contexts, &lines, parent, row->label->file, row->label->line);
            continue;
        }
        if (row->call_line > 0)
            parent = find_line(contexts, &lines, parent, called_in, row->call_line);
        contexts->of_row[i] = add_context(contexts, (struct hpc_context){.parent = parent, .row = i});
    }
    pair_map_free(&lines);
}

void hpc_contexts_free(struct hpc_contexts *contexts)
{
    free(contexts->context);
    free(contexts->of_row);
}

static bool make_directory(const char *directory, const char *name)
{
    char *path = memory_text("%s/%s", directory, name);
    bool good = mkdir(path, 0777) == 0;
    free(path);
    return good;
}

bool export_hpctoolkit(const char *directory, const struct profile *profile, const struct rows *rows, uint64_t *lost)
{
    struct hpc_contexts contexts;
    struct hpc_profiles profiles = {0};
    hpc_contexts_make(&contexts, rows);
    bool good = make_directory(directory, "src") && make_directory(directory, "metrics") && hpc_write_meta(directory, profile, &contexts) &&
                hpc_write_metrics(directory, rows) && hpc_write_profiles(directory, profile, &contexts, &profiles, lost) &&
                hpc_write_cct(directory, &contexts, &profiles);
    int why = errno;
    free(profiles.info);
    hpc_contexts_free(&contexts);
    errno = why;
    return good;
}
