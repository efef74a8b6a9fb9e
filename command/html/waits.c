/* Writes into the page where threads waited, and who woke them. */
#include "command/html/page.h"

#include "command/rows/own.h"

static void page_put_wait_places(struct page *page)
{
    const struct wait_table *waits = page->input->waits;
    fputs("{\"places\":{\"columns\":[\"place_kind\",\"place_function\",\"place_file\",\"place_line\","
          "\"in_region\",\"seconds\",\"place_call\"],\"rows\":[",
          page->out);
    for (size_t i = 0; i < waits->place_count; i++) {
        const struct wait_place *place = &waits->place[i];
        fprintf(page->out, "%s[%u,%u,%u,%d,%d", i ? "," : "", page_string(page, wait_kind_name[place->kind]),
                page_string(page, place->function), page_string(page, place->file), place->line, place->in_region);
        page_put_seconds(page, ",", place->ns);
        fprintf(page->out, ",%u]", page_string(page, place->call));
    }
    fputs("]},\n\"pairs\":{", page->out);
}

enum pair_column { PAIR_PLACE, PAIR_ROW, PAIR_US, PAIR_COLUMNS };

static void page_put_wait_pair(struct page *page, enum pair_column column, bool *first, uint32_t place, int64_t row,
                               double ns)
{
    putc_unlocked(*first ? '[' : ',', page->out);
    *first = false;
    if (column == PAIR_US)
        page_micro(page->out, ns * 1e-9);
    else
        page_whole(page->out, column == PAIR_PLACE ? place : row);
}

/* Writes one column of the table of pairs, each of a wait place and a row. If rows were merged, their pairs
 * with the same wait place are combined. */
static void page_put_wait_pairs(struct page *page, enum pair_column column)
{
    const struct wait_table *waits = page->input->waits;
    bool first = true;
    for (uint32_t p = 0; p < waits->place_count; p++) {
        const struct wait_pair *pair = &waits->pair[waits->place[p].first_pair];
        double merged_ns = 0;
        for (uint32_t i = 0; i < waits->place[p].pair_count; i++) {
            uint32_t row = page_tree_number(&page->tree, pair[i].row);
            if (row == ROW_NONE)
                merged_ns += pair[i].ns;
            else
                page_put_wait_pair(page, column, &first, p, row, pair[i].ns);
        }
        if (merged_ns != 0)
            page_put_wait_pair(page, column, &first, p, -1, merged_ns);
    }
    fputs(first ? "[]" : "]", page->out);
}

void page_put_waits(struct page *page)
{
    static const char *const name[PAIR_COLUMNS] = {"place", "row", "us"};
    page_put_wait_places(page);
    for (int column = 0; column < PAIR_COLUMNS; column++) {
        fprintf(page->out, "%s\"%s\":", column ? ",\n" : "", name[column]);
        page_put_wait_pairs(page, (enum pair_column)column);
    }
    fputs("}}", page->out);
}

static void page_put_wake_end(struct page *page, const struct wake_end *end)
{
    uint32_t own = rows_own(page->input->rows, end->row);
    fprintf(page->out, ",%lld,%u,%d", (long long)page_tree_nearest(&page->tree, own), page_string(page, end->file),
            end->line);
}

void page_put_wakes(struct page *page)
{
    const struct wake_table *table = page->input->wakes;
    fputs("{\"columns\":[\"kind\",\"seconds\",\"waits\",\"waiter\",\"waiter_file\",\"waiter_line\",\"waker\","
          "\"waker_file\",\"waker_line\"],\"rows\":[",
          page->out);
    for (size_t i = 0; i < table->count; i++) {
        const struct wake_pair *pair = &table->pair[i];
        fprintf(page->out, "%s[%u", i ? ",\n" : "", page_string(page, wake_name[pair->wake]));
        page_put_seconds(page, ",", pair->ns);
        fprintf(page->out, ",%.0f", pair->waits);
        page_put_wake_end(page, &pair->waiter);
        page_put_wake_end(page, &pair->waker);
        putc(']', page->out);
    }
    fputs("]}", page->out);
}
