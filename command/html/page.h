/* What the writers of a page share: the stream, the rows, the texts. docs/format.md describes the data. */
#ifndef BLAME_COMMAND_HTML_PAGE_H
#define BLAME_COMMAND_HTML_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "command/html/fold.h"
#include "command/html/html.h"
#include "command/rows/metric.h"
#include "command/text/strings.h"

/* The mark in the page that its data replace. */
#define HTML_DATA_MARK "<!--BLAME-DATA-->"

/* Returns the page; it does not end with a zero byte. */
const char *html_embedded_page(size_t *bytes);

/* The texts of a row's label, as numbers of strings. */
struct page_label {
    uint32_t name, module, file;
    int line;
};

struct page {
    FILE *out;
    const struct html_input *input;
    const struct html_options *options;
    struct html_result *result;
    struct fold fold;
    const struct rows *rows; /* fold.shown */
    struct strings *strings;
    uint32_t string_count;
    struct page_label *labels;
    size_t label_count, label_room;
    uint32_t *label; /* by row: index in labels */
};

/* Returns the number of a text among the page's strings, which are written last. */
uint32_t page_string(struct page *page, const char *text);

/* Write text and numbers as JSON. Seconds become whole microseconds, the precision of profile.csv. */
void page_text(struct page *page, const char *text);
void page_whole(FILE *out, int64_t value);
void page_micro(FILE *out, double seconds);

/* Encoder of bytes as text. Starts zeroed; base64_end() comes once, after the last byte. */
struct base64 {
    FILE *out;
    uint32_t bits;
    int count; /* number of pending bytes */
};

void base64_put(struct base64 *to, uint8_t byte);
void base64_end(struct base64 *to);

/* Returns false for a rare metric of which the program had none: the page has no column for it. */
bool page_has_metric(const struct page *page, enum metric metric);

/* The value of "rows". */
void page_put_rows(struct page *page);

/* The value of "phases". */
void page_put_phases(struct page *page);

/* The values of "threads" and what was left out of them, "locks", "waits", "findings". */
void page_put_threads(struct page *page);
void page_put_locks(struct page *page);
void page_put_waits(struct page *page);
void page_put_findings(struct page *page);

/* The value of "ranks". */
void page_put_ranks(struct page *page);

/* The value of "spreads". */
void page_put_spreads(struct page *page);

/* The value of "timeline". */
void page_put_timeline(struct page *page);

/* "sources" and what goes with it. */
void page_put_sources(struct page *page);

#endif
