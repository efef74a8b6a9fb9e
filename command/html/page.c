#include "command/html/page.h"

#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/html/page_tree.h"
#include "command/html/html.h"
#include "command/files/json.h"
#include "command/rows/error.h"
#include "command/rows/metric.h"
#include "command/tables/conservation.h"
#include "command/tables/ranks.h"
#include "command/text/format.h"
#include "command/text/json_text.h"
#include "command/text/memory.h"
#include "command/text/strings.h"

/* ---- the page without data ---- */

/* blame contains a copy of command/html/page/dist/page.html, made when blame was built. */

/* The path is relative to the repository's root, where make runs the compiler. */
__asm__(".pushsection .rodata\n"
        ".globl blame_page_begin, blame_page_end\n"
        ".hidden blame_page_begin, blame_page_end\n"
        "blame_page_begin:\n"
        ".incbin \"command/html/page/dist/page.html\"\n"
        "blame_page_end:\n"
        ".popsection\n");

extern const char blame_page_begin[] __attribute__((visibility("hidden")));
extern const char blame_page_end[] __attribute__((visibility("hidden")));

const char *html_embedded_page(size_t *bytes)
{
    *bytes = (size_t)(blame_page_end - blame_page_begin);
    return blame_page_begin;
}

/* ---- the data ---- */

#ifndef BLAME_VERSION
#define BLAME_VERSION "0.1.0"
#endif

#define TITLE_COLUMNS 60

static void page_put_text_or_null(struct page *page, const char *text)
{
    if (text)
        page_text(page, text);
    else
        fputs("null", page->out);
}

static void page_put_strings(struct page *page)
{
    for (uint32_t id = 0; id < page->string_count; id++) {
        putc(id ? ',' : '[', page->out);
        page_text(page, strings_text(page->strings, id));
    }
    putc(']', page->out);
}

static void page_put_title(struct page *page)
{
    const char *command = profile_text(page->input->profile, "command");
    const char *title = page->options->title ? page->options->title : command ? command : "program";
    char *fitting = format_fit(title, page->options->title ? SIZE_MAX : TITLE_COLUMNS, true);
    page_text(page, fitting);
    free(fitting);
}

/* Writes the sampling event and its period, given as "EVENT@PERIOD". Writes null if samples were taken by
 * time. */
static void page_put_sampling_event(struct page *page)
{
    const char *sample = profile_text(page->input->profile, "sample");
    fputs(",\"sample\":", page->out);
    if (!sample) {
        fputs("null", page->out);
        return;
    }
    char *event = memory_check(strndup(sample, strcspn(sample, "@")));
    fputs("{\"event\":", page->out);
    page_text(page, event);
    fprintf(page->out, ",\"period\":%llu}", (unsigned long long)(page->input->profile->header.period_ns / 1000000000u));
    free(event);
}

/* Writes how long no thread was busy. */
static void page_put_nobody_busy(struct page *page)
{
    const struct rows *rows = page->input->rows;
    double effort_s = metric_value(rows, rows_whole(rows), METRIC_EFFORT);
    fputs(",\"nobody_busy_s\":", page->out);
    json_decimal(page->out, rows->events ? 0 : ledger_nobody_s(page->input->profile, effort_s), 6);
}

/* Writes whether there was OpenMP, and the time that the cores offered if core idleness is shown, otherwise 0. */
static void page_put_cores(struct page *page)
{
    const struct rows *rows = page->input->rows;
    fprintf(page->out, ",\"openmp\":%s,\"cores_s\":", rows->without_openmp ? "false" : "true");
    json_decimal(page->out, rows_show_cores(rows) ? 1e-9 * rows->cores_ns : 0, 6);
}

static void page_put_header(struct page *page)
{
    const struct profile *profile = page->input->profile;
    const struct profile_header *header = &profile->header;
    const char *version = profile_text(profile, "version");
    fputs("{\"command\":", page->out);
    page_put_text_or_null(page, profile_text(profile, "command"));
    char size[200], threads[80];
    fputs(",\"job_size\":", page->out);
    page_put_text_or_null(page, ranks_size(profile, size, sizeof size) ? size : NULL);
    fputs(",\"host\":", page->out);
    page_put_text_or_null(page, profile_text(profile, "host"));
    fputs(",\"thread_text\":", page->out);
    profile_describe_threads(profile, threads, sizeof threads);
    page_text(page, threads);
    fprintf(page->out, ",\"pid\":%d,\"wall_s\":", header->pid);
    json_decimal(page->out, profile_wall_s(profile), 6);
    fprintf(page->out,
            ",\"threads\":%u,\"cores\":%u,\"environment\":\"%s\",\"rate\":%u,\"clock\":\"%s\","
            "\"finished\":%s,\"version\":",
            header->threads_max, header->cores, profile_environment(profile), header->rate,
            header->clock == 1 ? "cpu" : "wall", header->finished || header->snapshot ? "true" : "false");
    page_text(page, version ? version : BLAME_VERSION);
    page_put_sampling_event(page);
    page_put_nobody_busy(page);
    page_put_cores(page);
    putc('}', page->out);
}

static void page_put_metric_list(struct page *page)
{
    for (size_t i = 0; i < METRIC_COLUMNS; i++) {
        if (!page_has_metric(page, metric_columns[i]))
            continue;
        const char *title = metric_title(metric_columns[i]);
        const char *summary = metric_summary(page->input->rows, metric_columns[i]);
        fprintf(page->out, "%s{\"key\":\"%s\",\"title\":\"%s\",\"summary\":\"%s\",\"unit\":\"%s\"}", i ? "," : "[",
                title, title, summary ? summary : "",
                *metric_unit[metric_columns[i]] && page->input->rows->events ? "events"
                                                                             : metric_unit[metric_columns[i]]);
    }
    for (size_t i = 0; i < page->input->rows->counter_count; i++) {
        fputs(",{\"key\":", page->out);
        page_text(page, page->input->rows->counter_name[i]);
        fputs(",\"title\":", page->out);
        page_text(page, page->input->rows->counter_name[i]);
        fputs(",\"unit\":\"\",\"counter\":true}", page->out);
    }
    fprintf(page->out, "],\n\"default_metric\":\"%s\"", metric_title(metric_default(page->rows)));
}

static void page_put_error_form(struct page *page, enum metric metric)
{
    struct error_form form = error_form_of(&page->input->rows->error, metric);
    /* values are samples or seconds, and are written as samples or microseconds */
    double micro = metric == METRIC_SAMPLES ? 1 : 1e6;
    const struct {
        const char *before;
        double value;
    } figures[] = {{"{\"few\":", micro * micro * form.few},
                   {",\"each\":", micro * form.each},
                   {",\"own\":", micro * form.own},
                   {",\"beside\":", micro * form.beside},
                   {",\"all\":", form.all},
                   {",\"rains\":", micro * micro * form.rains},
                   {",\"ends\":", form.ends},
                   {",\"together\":", form.together}};
    fprintf(page->out, "\"%s\":", metric_title(metric));
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        fputs(figures[i].before, page->out);
        json_decimal(page->out, figures[i].value, 9);
    }
    putc('}', page->out);
}

/* Writes for each set of trees that rows have [all, rains] of the metrics for which they are smaller. */
static void page_put_error_trees(struct page *page)
{
    const struct error_terms *terms = &page->input->rows->error;
    for (size_t set = 0; set < page->tree_count; set++) {
        bool first = true;
        fputs(set ? ",{" : "{", page->out);
        for (size_t i = 0; i <= METRIC_COLUMNS; i++) {
            enum metric metric = i < METRIC_COLUMNS ? metric_columns[i] : METRIC_BLAME;
            struct error_form whole = error_form_of(terms, metric),
                              form = error_form_within(terms, metric, page->trees[set]);
            if (form.all == whole.all && form.rains == whole.rains)
                continue;
            fprintf(page->out, "%s\"%s\":[", first ? "" : ",", metric_title(metric));
            json_decimal(page->out, form.all, 9);
            putc(',', page->out);
            json_decimal(page->out, (metric == METRIC_SAMPLES ? 1 : 1e12) * form.rains, 9);
            putc(']', page->out);
            first = false;
        }
        putc('}', page->out);
    }
}

/* Writes the coefficients of the sampling errors. The page uses them to compute the errors of sums that it
 * makes itself. */
static void page_put_errors(struct page *page)
{
    fputs("{\"deviations\":", page->out);
    json_decimal(page->out, ERROR_DEVIATIONS, 9);
    fputs(",\"of\":{", page->out);
    for (size_t i = 0; i < METRIC_COLUMNS; i++) {
        page_put_error_form(page, metric_columns[i]);
        putc(',', page->out);
    }
    page_put_error_form(page, METRIC_BLAME);
    fputs("},\"trees\":[", page->out);
    page_put_error_trees(page);
    fputs("]}", page->out);
}

/* Writes the content of run.json without its list of ranks, because the key "ranks" of the page contains
 * them. */
static void page_put_run_json(struct page *page)
{
    json_t *run = run_json(page->input->profile, page->input->rows);
    json_object_del(json_object_get(run, "job"), "ranks");
    json_value(page->out, run);
    json_decref(run);
}

static void page_put_left_out(struct page *page)
{
    const struct page_tree *tree = &page->tree;
    if (!tree->left_out) {
        fputs("null", page->out);
        return;
    }
    fprintf(page->out, "{\"rows\":%zu,\"total\":%zu,\"asked\":%s,\"percent\":", tree->left_out, tree->rows->count,
            page->options->least_percent >= 0 ? "true" : "false");
    json_decimal(page->out, tree->least_percent, 9);
    putc('}', page->out);
}

static void page_put_row_kinds(struct page *page)
{
    for (int kind = 0; kind < ROW_KINDS; kind++)
        fprintf(page->out, "%c\"%s\"", kind ? ',' : '[', row_kind_name[kind]);
    putc(']', page->out);
}

static const struct {
    const char *before;
    void (*put)(struct page *page);
} parts[] = {
    {"<script type=\"application/json\" id=\"blame-data\">{\"format\":1,\n\"title\":", page_put_title},
    {",\n\"header\":", page_put_header},
    {",\n\"metrics\":", page_put_metric_list},
    {",\n\"error\":", page_put_errors},
    {",\n\"run\":", page_put_run_json},
    {",\n\"kinds\":", page_put_row_kinds},
    {",\n\"left_out\":", page_put_left_out},
    {",\n\"rows\":", page_put_rows},
    {",\n\"phases\":", page_put_phases},
    {",\n\"ranks\":", page_put_ranks},
    {",\n\"spreads\":", page_put_spreads},
    {",\n\"timeline\":", page_put_timeline},
    {",\n\"threads\":", page_put_threads},
    {",\n\"locks\":", page_put_locks},
    {",\n\"waits\":", page_put_waits},
    {",\n\"wakes\":", page_put_wakes},
    {",\n\"findings\":", page_put_findings},
    {",", page_put_sources},
    {",\n\"strings\":", page_put_strings},
};

/* Writes all data. Stops when a write has failed, so that errno keeps the reason. */
static void page_put_data(struct page *page)
{
    page_find_trees(page);
    for (size_t i = 0; i < sizeof parts / sizeof *parts && !ferror(page->out); i++) {
        fputs(parts[i].before, page->out);
        parts[i].put(page);
    }
    if (!ferror(page->out))
        fputs("}</script>", page->out);
}

static void html_put_page(struct page *page)
{
    size_t bytes, mark_bytes = strlen(HTML_DATA_MARK);
    const char *html = html_embedded_page(&bytes);
    /* the mark exists, as a unit test checks */
    const char *mark = memmem(html, bytes, HTML_DATA_MARK, mark_bytes);
    size_t before = mark ? (size_t)(mark - html) : bytes, rest = mark ? before + mark_bytes : bytes;
    fwrite(html, 1, before, page->out);
    page_put_data(page);
    if (!ferror(page->out))
        fwrite(html + rest, 1, bytes - rest, page->out);
}

bool html_write(FILE *out, const struct html_input *input, const struct html_options *options,
                struct html_result *result)
{
    struct page page = {.out = out, .input = input, .options = options, .result = result};
    *result = (struct html_result){0};
    page.strings = strings_new();
    page.string_count = 1;
    page_tree_make(&page.tree, input->rows, options->least_percent, HTML_ROWS);
    page.rows = page.tree.shown;
    result->rows = page.rows->count;
    result->rows_total = input->rows->count;
    result->rows_left_out = page.tree.left_out;
    result->least_percent = page.tree.left_out ? page.tree.least_percent : 0;
    html_put_page(&page);
    int why = errno;
    page_tree_free(&page.tree);
    strings_free(page.strings);
    free(page.labels);
    free(page.label);
    free(page.trees);
    errno = why;
    return !ferror(out);
}
