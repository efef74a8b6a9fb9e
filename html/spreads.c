/* How rows differ between a job's ranks. */
#include <stdlib.h>

#include "html/page.h"
#include "report/profile/job.h"
#include "report/tables/spreads.h"
#include "report/text/memory.h"

struct shown {
    uint32_t row, page_row;
    double deviation;
};

struct spreads {
    struct shown *shown; /* in the order of rows */
    size_t count;
};

static int compare_deviations(const void *left, const void *right)
{
    const struct shown *a = left, *b = right;
    return a->deviation != b->deviation ? (a->deviation < b->deviation ? 1 : -1)
                                        : (a->row > b->row) - (a->row < b->row);
}

static int compare_rows(const void *left, const void *right)
{
    const struct shown *a = left, *b = right;
    return (a->page_row > b->page_row) - (a->page_row < b->page_row);
}

/* Of the page's rows those whose time differs most. */
static struct spreads gather(const struct page *page)
{
    const struct rows *rows = page->input->rows;
    struct spreads made = {.shown = memory_array(rows->spread_count, sizeof *made.shown)};
    for (size_t i = 0; i < rows->spread_count; i++) {
        uint32_t row = rows->spread[i].row, page_row = fold_number(&page->fold, row);
        struct spread_entry entry;
        if (page_row != ROW_NONE &&
            spread_of_row(page->input->profile, rows, row, PROFILE_SPREAD_TIME, false, &entry))
            made.shown[made.count++] = (struct shown){row, page_row, entry.deviation};
    }
    qsort(made.shown, made.count, sizeof *made.shown, compare_deviations);
    if (made.count > HTML_SPREADS)
        made.count = HTML_SPREADS;
    qsort(made.shown, made.count, sizeof *made.shown, compare_rows);
    return made;
}

enum { RANKS, MEAN, DEVIATION, LEAST, LEAST_RANK, MOST, MOST_RANK, COLUMNS };

static void put_value(struct page *page, const struct spread_entry *entry, int column)
{
    switch (column) {
    case RANKS:
        page_whole(page->out, entry->ranks);
        break;
    case LEAST_RANK:
        page_whole(page->out, page_string(page, entry->least_rank));
        break;
    case MOST_RANK:
        page_whole(page->out, page_string(page, entry->most_rank));
        break;
    default: {
        const double ns[COLUMNS] = {[MEAN] = entry->mean,
                                    [DEVIATION] = entry->deviation,
                                    [LEAST] = entry->least,
                                    [MOST] = entry->most};
        page_micro(page->out, ns[column] * 1e-9);
    }
    }
}

static void put_metric(struct page *page, const struct spreads *spreads, enum profile_spread_metric metric)
{
    static const char *const name[COLUMNS] = {"ranks",      "mean", "deviation", "least",
                                              "least_rank", "most", "most_rank"};
    fprintf(page->out, "{\"key\":\"%s\"", spread_metric_name[metric]);
    for (int column = 0; column < COLUMNS; column++) {
        fprintf(page->out, ",\n\"%s\":[", name[column]);
        for (size_t i = 0; i < spreads->count; i++) {
            struct spread_entry entry = {.ranks = 0};
            spread_of_row(page->input->profile, page->input->rows, spreads->shown[i].row, metric, false,
                          &entry);
            fputs(i ? "," : "", page->out);
            put_value(page, &entry, column);
        }
        putc(']', page->out);
    }
    putc('}', page->out);
}

void page_put_spreads(struct page *page)
{
    struct spreads spreads = gather(page);
    if (!spreads.count) {
        fputs("null", page->out);
        free(spreads.shown);
        return;
    }
    fprintf(page->out, "{\"of\":%zu,\n\"row\":[", job_ranks(page->input->profile));
    for (size_t i = 0; i < spreads.count; i++)
        fprintf(page->out, "%s%u", i ? "," : "", spreads.shown[i].page_row);
    fputs("],\n\"metrics\":[", page->out);
    for (int metric = 0; metric < PROFILE_SPREAD_METRICS; metric++) {
        fputs(metric ? ",\n" : "", page->out);
        put_metric(page, &spreads, (enum profile_spread_metric)metric);
    }
    fputs("]}", page->out);
    free(spreads.shown);
}
