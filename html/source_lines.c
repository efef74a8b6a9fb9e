#include "html/source_lines.h"

#include <stdlib.h>

#include "report/profile/pair_map.h"
#include "report/text/memory.h"

/* A line and what it cost. */
struct candidate {
    struct source_line at;
    double value[METRIC_COLUMNS];
    double share; /* the highest */
};

struct candidates {
    const struct page *page;
    struct candidate *list;
    size_t count, room;
    struct pair_map map;
};

static void add(struct candidates *candidates, uint32_t file, int line, const struct profile_sums *sums)
{
    if (!file || line <= 0)
        return;
    uint32_t *slot = pair_map_slot(&candidates->map, file, (unsigned)line);
    if (*slot == PAIR_MAP_NEW) {
        memory_grow(&candidates->list, &candidates->room, candidates->count, sizeof *candidates->list);
        *slot = (uint32_t)candidates->count++;
        candidates->list[*slot] = (struct candidate){.at = {.file = file, .line = line}};
    }
    for (size_t i = 0; i < METRIC_COLUMNS; i++)
        candidates->list[*slot].value[i] += metric_value(candidates->page->rows, sums, metric_columns[i]);
}

static int by_share(const void *left, const void *right)
{
    const struct candidate *a = left, *b = right;
    if (a->share != b->share)
        return (a->share < b->share) - (a->share > b->share);
    if (a->at.file != b->at.file)
        return a->at.file < b->at.file ? -1 : 1;
    return (a->at.line > b->at.line) - (a->at.line < b->at.line);
}

static int by_place(const void *left, const void *right)
{
    const struct source_line *a = left, *b = right;
    if (a->file != b->file)
        return a->file < b->file ? -1 : 1;
    return (a->line > b->line) - (a->line < b->line);
}

/* Keeps the lines with the highest shares, appended to lines. */
static void keep_best(struct candidates *candidates, struct source_lines *lines)
{
    const struct page *page = candidates->page;
    double total[METRIC_COLUMNS];
    for (size_t m = 0; m < METRIC_COLUMNS; m++)
        total[m] = metric_value(page->rows, page->rows->row[0].inclusive, metric_columns[m]);
    for (size_t i = 0; i < candidates->count; i++)
        for (size_t m = 0; m < METRIC_COLUMNS; m++) {
            double share = total[m] > 0 ? candidates->list[i].value[m] / total[m] : 0;
            if (share > candidates->list[i].share)
                candidates->list[i].share = share;
        }
    if (candidates->count)
        qsort(candidates->list, candidates->count, sizeof *candidates->list, by_share);
    size_t kept = candidates->count < SOURCE_LINES ? candidates->count : SOURCE_LINES;
    for (size_t i = 0; i < kept && candidates->list[i].share > 0; i++)
        lines->line[lines->count++] = candidates->list[i].at;
    pair_map_free(&candidates->map);
    free(candidates->list);
}

static const struct page_label *label_of(const struct page *page, size_t row)
{
    return &page->labels[page->label[row]];
}

static void choose_statements(const struct page *page, struct source_lines *lines)
{
    struct candidates candidates = {.page = page};
    for (size_t i = 0; i < page->rows->count; i++)
        if (page->rows->row[i].kind == ROW_STATEMENT)
            add(&candidates, label_of(page, i)->file, label_of(page, i)->line, page->rows->row[i].exclusive);
    keep_best(&candidates, lines);
}

static void choose_calls(const struct page *page, struct source_lines *lines)
{
    struct candidates candidates = {.page = page};
    for (size_t i = 1; i < page->rows->count; i++) {
        const struct row *row = &page->rows->row[i];
        if (row->kind == ROW_STATEMENT)
            continue;
        add(&candidates, label_of(page, i)->file, label_of(page, i)->line, row->inclusive);
        add(&candidates, label_of(page, row->parent)->file, row->call_line, row->inclusive);
    }
    keep_best(&candidates, lines);
}

void source_lines_choose(struct page *page, struct source_lines *lines)
{
    *lines = (struct source_lines){.line = memory_array(2 * SOURCE_LINES, sizeof *lines->line)};
    choose_statements(page, lines);
    choose_calls(page, lines);
    qsort(lines->line, lines->count, sizeof *lines->line, by_place);
    size_t kept = 0;
    for (size_t i = 0; i < lines->count; i++)
        if (kept == 0 || by_place(&lines->line[kept - 1], &lines->line[i]) != 0)
            lines->line[kept++] = lines->line[i];
    lines->count = kept;
}
