/* Threads, locks, waits and findings: tables beside the rows. */
#include <stdlib.h>

#include "html/page.h"
#include "report/rows/metric.h"
#include "report/tables/ranks.h"
#include "report/tables/threads.h"
#include "report/text/json_text.h"

static void put_seconds(struct page *page, const char *before, double ns)
{
    fputs(before, page->out);
    json_decimal(page->out, ns * 1e-9, 6);
}

/* In a job, the thread's rank. */
static void put_rank(struct page *page, const struct profile_thread *thread)
{
    const struct profile *profile = page->input->profile;
    char name[32];
    if (!thread->rank_record || thread->rank_record > profile->rank_count)
        return;
    rank_name(&profile->ranks[thread->rank_record - 1], name, sizeof name);
    fprintf(page->out, ",\"rank\":\"%s\"", name);
}

void page_put_threads(struct page *page)
{
    const struct profile *profile = page->input->profile;
    uint64_t start =
        profile->header.start_ns; /* differences first: a double cannot hold every absolute time */
    bool all = !profile->header.merged || profile->thread_count < HTML_THREADS;
    size_t shown = all ? profile->thread_count : HTML_THREADS;
    putc('[', page->out);
    for (size_t i = 0; i < shown; i++) {
        const struct profile_thread *thread = &profile->threads[i];
        fprintf(page->out, "%s{\"thread\":%zu,\"kind\":\"%s\"", i ? ",\n" : "", i, thread_kind_name(thread));
        put_seconds(page, ",\"begin_s\":", (double)(int64_t)(thread->begin_ns - start));
        put_seconds(page, ",\"end_s\":", (double)(int64_t)(thread_end_ns(thread) - start));
        fprintf(page->out, ",\"samples\":%llu", (unsigned long long)thread->recorded);
        put_seconds(page, ",\"work\":", thread->work);
        put_seconds(page, ",\"idle\":", thread->idle);
        put_seconds(page, ",\"overhead\":", thread->overhead);
        put_seconds(page, ",\"lock_wait\":", thread->lock_wait);
        put_seconds(page, ",\"parked\":", thread->parked);
        put_seconds(page, ",\"no_core\":", thread->no_core);
        put_seconds(page, ",\"blocked\":", thread->blocked);
        put_seconds(page, ",\"stolen\":", thread->stolen);
        put_seconds(page, ",\"mpi_wait\":", thread->mpi_wait);
        put_rank(page, thread);
        putc('}', page->out);
    }
    fprintf(page->out, "],\n\"threads_left_out\":%zu", profile->thread_count - shown);
}

/* Three cells: a context as a path, its seconds, its row. */
static void put_context(struct page *page, uint32_t row, double ns)
{
    char *path = row == ROW_NONE ? NULL : locks_context_path(page->input->rows, row);
    putc(',', page->out);
    page_text(page, path ? path : "");
    put_seconds(page, ",", path ? ns : 0);
    fprintf(page->out, ",%lld", path ? (long long)fold_nearest(&page->fold, row) : -1ll);
    free(path);
}

static void put_lock(struct page *page, const struct lock_entry *lock)
{
    const struct lock_table *table = page->input->locks;
    const struct lock_context *holder = lock->context_count ? &table->context[lock->first_context] : NULL;
    fprintf(page->out, "[\"0x%llx\",\"%s\",", (unsigned long long)lock->wait_id, lock_kind_name[lock->kind]);
    page_text(page, lock->symbol);
    put_seconds(page, ",", lock->wait_ns);
    fprintf(page->out, ",%llu,%u,", (unsigned long long)lock->contended, lock->context_count);
    page_text(page, lock->name);
    put_seconds(page, ",", lock->longest_ns);
    put_context(page, holder ? holder->row : ROW_NONE, holder ? holder->wait_ns : 0);
    put_context(page, lock->waiter, lock->waiter_ns);
    putc(',', page->out);
    page_text(page, lock->initialiser);
    fprintf(page->out, ",%u]", lock->initialisers);
}

void page_put_locks(struct page *page)
{
    const struct lock_table *table = page->input->locks;
    size_t shown = table->count < HTML_LOCKS ? table->count : HTML_LOCKS;
    double left_out_ns = 0;
    fputs("{\"columns\":[\"lock\",\"kind\",\"symbol\",\"wait\",\"acquisitions_contended\","
          "\"blamed_contexts\",\"name\",\"longest_wait\",\"holder\",\"holder_wait\",\"holder_id\",\"waiter\","
          "\"waiter_wait\",\"waiter_id\",\"initialiser\",\"initialisers\"],\n\"rows\":[",
          page->out);
    for (size_t i = 0; i < shown; i++) {
        fputs(i ? ",\n" : "", page->out);
        put_lock(page, &table->lock[i]);
    }
    for (size_t i = shown; i < table->count; i++)
        left_out_ns += table->lock[i].wait_ns;
    page->result->locks_left_out = table->count - shown;
    if (shown == table->count) {
        fputs("],\"left_out\":null}", page->out);
        return;
    }
    fprintf(page->out, "],\"left_out\":{\"locks\":%zu", table->count - shown);
    put_seconds(page, ",\"wait\":", left_out_ns);
    fputs("}}", page->out);
}

static void put_places(struct page *page)
{
    const struct wait_table *waits = page->input->waits;
    fputs("{\"places\":{\"columns\":[\"place_kind\",\"place_function\",\"place_file\",\"place_line\","
          "\"in_region\",\"seconds\",\"place_call\"],\"rows\":[",
          page->out);
    for (size_t i = 0; i < waits->place_count; i++) {
        const struct wait_place *place = &waits->place[i];
        fprintf(page->out, "%s[%u,%u,%u,%d,%d", i ? "," : "", page_string(page, wait_kind_name[place->kind]),
                page_string(page, place->function), page_string(page, place->file), place->line,
                place->in_region);
        put_seconds(page, ",", place->ns);
        fprintf(page->out, ",%u]", page_string(page, place->call));
    }
    fputs("]},\n\"pairs\":{", page->out);
}

enum pair_column { PAIR_PLACE, PAIR_ROW, PAIR_US, PAIR_COLUMNS };

static void put_pair(struct page *page, enum pair_column column, bool *first, uint32_t place, int64_t row,
                     double ns)
{
    putc_unlocked(*first ? '[' : ',', page->out);
    *first = false;
    if (column == PAIR_US)
        page_micro(page->out, ns * 1e-9);
    else
        page_whole(page->out, column == PAIR_PLACE ? place : row);
}

/* The pairs of a place whose rows were folded are one. */
static void put_pairs(struct page *page, enum pair_column column)
{
    const struct wait_table *waits = page->input->waits;
    bool first = true;
    for (uint32_t p = 0; p < waits->place_count; p++) {
        const struct wait_pair *pair = &waits->pair[waits->place[p].first_pair];
        double folded_ns = 0;
        for (uint32_t i = 0; i < waits->place[p].pair_count; i++) {
            uint32_t row = fold_number(&page->fold, pair[i].row);
            if (row == ROW_NONE)
                folded_ns += pair[i].ns;
            else
                put_pair(page, column, &first, p, row, pair[i].ns);
        }
        if (folded_ns != 0)
            put_pair(page, column, &first, p, -1, folded_ns);
    }
    fputs(first ? "[]" : "]", page->out);
}

void page_put_waits(struct page *page)
{
    static const char *const name[PAIR_COLUMNS] = {"place", "row", "us"};
    put_places(page);
    for (int column = 0; column < PAIR_COLUMNS; column++) {
        fprintf(page->out, "%s\"%s\":", column ? ",\n" : "", name[column]);
        put_pairs(page, (enum pair_column)column);
    }
    fputs("}}", page->out);
}

static void put_named_text(struct page *page, const char *name, const char *text)
{
    fprintf(page->out, ",\"%s\":", name);
    page_text(page, text);
}

void page_put_findings(struct page *page)
{
    const struct findings *findings = page->input->findings;
    putc('[', page->out);
    for (size_t i = 0; findings && i < findings->count; i++) {
        const struct finding *finding = &findings->finding[i];
        uint32_t row = fold_nearest(&page->fold, finding->row);
        fprintf(page->out, "%s{\"rule\":\"%s\",\"row\":%lld,\"metric\":\"%s\",\"seconds\":", i ? ",\n" : "",
                finding->rule, row == ROW_NONE ? -1ll : (long long)row, metric_title(finding->metric));
        json_decimal(page->out, finding->seconds, 6);
        fputs(",\"error\":", page->out);
        json_decimal(page->out, finding->error, 6);
        fputs(",\"share\":", page->out);
        json_decimal(page->out, finding->share, 6);
        fputs(",\"gain_s\":", page->out);
        json_decimal(page->out, finding->gain_s, 6);
        put_named_text(page, "title", finding->title);
        put_named_text(page, "evidence", finding->evidence);
        put_named_text(page, "advice", finding->advice);
        put_named_text(page, "place", finding->place);
        putc('}', page->out);
    }
    putc(']', page->out);
}
