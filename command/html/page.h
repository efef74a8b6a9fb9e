/* Declarations that the writers of a page share: the stream, the rows and the texts. docs/format.md describes
 * the data. */
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

/* mark in the page that the data replace */
#define HTML_DATA_MARK "<!--BLAME-DATA-->"

/* Returns the page without data and its size. The text does not end with a zero byte. */
const char *html_embedded_page(size_t *bytes);

/* A row's label. The texts are given by their numbers among the page's strings. */
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
    const struct rows *rows; /* the same as fold.shown */
    struct strings *strings;
    uint32_t string_count;
    struct page_label *labels;
    size_t label_count, label_room;
    uint32_t *label; /* index in `labels`, by row */
};

/* Returns the number of a text in the page's list of strings, which is written last. */
uint32_t page_string(struct page *page, const char *text);

/* Write text and numbers as JSON. page_micro writes seconds as whole microseconds, the precision of
 * profile.csv. */
void page_text(struct page *page, const char *text);
void page_whole(FILE *out, int64_t value);
void page_micro(FILE *out, double seconds);

/* A base64 encoder. It must be zeroed at the start, and base64_end() must be called once after the last byte. */
struct base64 {
    FILE *out;
    uint32_t bits;
    int count; /* number of bytes not yet written */
};

void base64_put(struct base64 *to, uint8_t byte);
void base64_end(struct base64 *to);

/* Returns whether the page has a column for the metric. Rare metrics that are 0 in the whole program have
 * none. */
bool page_has_metric(const struct page *page, enum metric metric);

/* Writes the value of "rows". */
void page_put_rows(struct page *page);

/* Writes the value of "phases". */
void page_put_phases(struct page *page);

/* Write the values of "threads" (with the number left out), "locks", "waits" and "findings". */
void page_put_threads(struct page *page);
void page_put_locks(struct page *page);
void page_put_waits(struct page *page);
void page_put_findings(struct page *page);

/* Writes the value of "ranks". */
void page_put_ranks(struct page *page);

/* Writes the value of "spreads". */
void page_put_spreads(struct page *page);

/* Writes the value of "timeline". */
void page_put_timeline(struct page *page);

/* Writes "sources" and the related keys. */
void page_put_sources(struct page *page);

#endif
