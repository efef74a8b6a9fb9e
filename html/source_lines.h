/* Which source lines a page shows: those that matter most, by any metric. */
#ifndef BLAME_HTML_SOURCE_LINES_H
#define BLAME_HTML_SOURCE_LINES_H

#include "html/page.h"

/* At most so many lines because of their own cost, and as many because of what is called in them. */
#define SOURCE_LINES 400
/* Lines shown before and behind each of them. */
#define SOURCE_AROUND 6

struct source_line {
    uint32_t file; /* a string of the page */
    int line;
};

struct source_lines {
    struct source_line *line; /* by file and line, each once */
    size_t count;
};

/* Statements by their own cost; call sites and the first lines of functions by what their rows cost with all
 * that they call. A line counts by its highest share of a metric. */
void source_lines_choose(struct page *page, struct source_lines *lines);

#endif
