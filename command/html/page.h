/* What the writers of a page's parts share: where it goes, its rows, its texts. The data are described in
 * docs/format.md. */
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

/* What stands in the page where its data belongs. */
#define HTML_DATA_MARK "<!--BLAME-DATA-->"

/* Not ended by a zero byte. */
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
    uint32_t *label; /* by row: which of labels */
};

/* The number of a text among the page's strings, which are written last. */
uint32_t page_string(struct page *page, const char *text);

/* Text and numbers as JSON. Seconds as whole microseconds: the digits that profile.csv has. */
void page_text(struct page *page, const char *text);
void page_whole(FILE *out, int64_t value);
void page_micro(FILE *out, double seconds);

/* Bytes as text; begins empty, base64_end() is called once, behind the last. */
struct base64 {
    FILE *out;
    uint32_t bits;
    int count; /* of bytes that wait */
};

void base64_put(struct base64 *to, uint8_t byte);
void base64_end(struct base64 *to);

/* False of no core and blocked where the program had none: they are not in the page. */
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
