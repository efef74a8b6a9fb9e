/* The state of the page being written, shared by the files that write its parts. command/html/page/README.md
 * describes the page's data. */
#ifndef BLAME_COMMAND_HTML_PAGE_H
#define BLAME_COMMAND_HTML_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "command/html/page_tree.h"
#include "command/html/html.h"
#include "command/rows/metric.h"
#include "command/text/strings.h"

/* the page without data contains this mark, which the data replace */
#define HTML_DATA_MARK "<!--BLAME-DATA-->"

/* Returns the page without data, and its size. The text has no zero byte at its end. */
const char *html_embedded_page(size_t *bytes);

/* The label of a row. Each text is given by its number in the page's list of strings. */
struct page_label {
    uint32_t name, module, file;
    int line;
};

struct page {
    FILE *out;
    const struct html_input *input;
    const struct html_options *options;
    struct html_result *result;
    struct page_tree tree;
    const struct rows *rows; /* rows of the page, the same as tree.shown */
    struct strings *strings;
    uint32_t string_count;
    struct page_label *labels;
    size_t label_count, label_room;
    uint64_t *trees; /* the sets of trees that some rows have, in the order of the page's list, and their number */
    size_t tree_count;
    uint32_t *label; /* for each row of the page, an index in `labels` */
};

/* Returns the number of a text in the page's list of strings, and adds the text if it is new. The list is
 * written last. */
uint32_t page_string(struct page *page, const char *text);

/* Write texts and numbers as JSON. page_micro writes seconds as whole microseconds, the precision of
 * profile.csv. */
void page_text(struct page *page, const char *text);
void page_whole(FILE *out, int64_t value);
void page_micro(FILE *out, double seconds);

/* Writes a text and then a time in seconds. */
void page_put_seconds(struct page *page, const char *before, double ns);

/* A base64 encoder. It must be zeroed before the first byte, and page_base64_end() must be called after the last
 * one. */
struct base64 {
    FILE *out;
    uint32_t bits;
    int count; /* number of bytes in `bits` that have not been written yet */
};

void page_base64_put(struct base64 *to, uint8_t byte);
void page_base64_end(struct base64 *to);

/* Returns whether the page has a column for the metric. There is no column for a rare metric that is 0 in the
 * whole program. */
bool page_has_metric(const struct page *page, enum metric metric);

/* Writes the value of the key "rows". */
void page_put_rows(struct page *page);
/* Finds the sets of trees whose errors differ from the whole program's. Called before anything is written. */
void page_find_trees(struct page *page);

/* Writes the value of the key "phases". */
void page_put_phases(struct page *page);

/* Write the values of the keys "threads" (with the number of threads left out), "locks", "waits", "wakes" and
 * "findings". */
void page_put_threads(struct page *page);
void page_put_locks(struct page *page);
void page_put_waits(struct page *page);
void page_put_wakes(struct page *page);
void page_put_findings(struct page *page);

/* Writes the value of the key "ranks". */
void page_put_ranks(struct page *page);

/* Writes the value of the key "spreads". */
void page_put_spreads(struct page *page);

/* Writes the value of the key "timeline". */
void page_put_timeline(struct page *page);

/* Writes the key "sources" and the related keys. */
void page_put_sources(struct page *page);

#endif
