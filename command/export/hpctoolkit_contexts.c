/* The contexts of an HPCToolkit database: rows, and the source lines of their calls. */
#include "command/export/hpctoolkit.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "command/export/export.h"
#include "command/export/measures.h"
#include "command/profile/pair_map.h"
#include "command/rows/metric.h"
#include "command/rows/row.h"
#include "command/text/memory.h"

const char *hpc_metric_name(const struct rows *rows, enum metric metric, char *to, size_t bytes)
{
    snprintf(to, bytes, "%s%s", metric_title(metric), export_in_ns(rows, metric) ? " (sec)" : "");
    return to;
}

static const char UNKNOWN_FILE[] = "<unknown file>"; /* hpcviewer shows a line only if it has a file */

/* Adds a context and returns its number. The parent must already exist. */
uint32_t hpc_add_context(struct hpc_contexts *contexts, struct hpc_context context)
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

static uint32_t hpc_find_line(struct hpc_contexts *contexts, struct pair_map *lines, uint32_t parent, const char *file,
                              int line)
{
    if (!*file)
        file = UNKNOWN_FILE;
    /* File names are interned, so equal names have equal addresses. */
    uint32_t *slot = pair_map_slot(lines, (uint64_t)parent << 32 | (uint32_t)line, (uintptr_t)file);
    if (*slot == PAIR_MAP_NEW)
        *slot = hpc_add_context(contexts,
                                (struct hpc_context){.parent = parent, .row = ROW_NONE, .file = file, .line = line});
    return *slot;
}

static void hpc_name_metrics(struct hpc_contexts *contexts)
{
    char name[64];
    export_measures_gather_beside(&contexts->beside, contexts->rows, false);
    contexts->metrics = METRIC_COLUMNS + contexts->beside.count;
    contexts->values = (uint16_t)(2 * contexts->metrics);
    contexts->name = memory_array(contexts->metrics, sizeof *contexts->name);
    for (enum metric metric = 0; metric < METRIC_COLUMNS; metric++)
        contexts->name[metric] = memory_text("%s", hpc_metric_name(contexts->rows, metric, name, sizeof name));
    for (size_t i = METRIC_COLUMNS; i < contexts->metrics; i++) {
        const struct measure *measure = &contexts->beside.measure[i - METRIC_COLUMNS];
        contexts->name[i] = memory_text("%s%s", measure->title, measure->in_seconds ? " (sec)" : "");
    }
}

void hpc_contexts_make(struct hpc_contexts *contexts, const struct rows *rows)
{
    struct pair_map lines = {0};
    *contexts = (struct hpc_contexts){.rows = rows, .of_row = memory_array(rows->count, sizeof *contexts->of_row)};
    hpc_name_metrics(contexts);
    hpc_add_context(contexts, (struct hpc_context){0});
    contexts->of_row[0] = hpc_add_context(contexts, (struct hpc_context){0});
    for (uint32_t i = 1; i < rows->count; i++) {
        const struct row *row = &rows->row[i];
        uint32_t parent = contexts->of_row[row->parent];
        const char *called_in = rows->row[row->parent].label->file;
        if (row->kind == ROW_STATEMENT) {
            contexts->of_row[i] = hpc_find_line(contexts, &lines, parent, row->label->file, row->label->line);
            continue;
        }
        if (row->call_line > 0)
            parent = hpc_find_line(contexts, &lines, parent, called_in, row->call_line);
        contexts->of_row[i] = hpc_add_context(contexts, (struct hpc_context){.parent = parent, .row = i});
    }
    pair_map_free(&lines);
}

void hpc_contexts_free(struct hpc_contexts *contexts)
{
    free(contexts->context);
    free(contexts->of_row);
    for (size_t i = 0; i < contexts->metrics; i++)
        free(contexts->name[i]);
    free(contexts->name);
    export_measures_free(&contexts->beside);
}
