/* Writes excerpts of source files into the page, around the lines that cost most. */
#include <stdlib.h>
#include <string.h>

#include "command/html/page.h"
#include "command/profile/pair_map.h"
#include "command/text/memory.h"
#include "command/text/source_text.h"

/* ---- which lines are shown ---- */

/* The page shows the lines that have the highest share of any metric. */

/* maximum number of lines selected for their own cost, and maximum number selected for the cost of the calls
 * in them */
#define SOURCE_LINES 400
/* number of lines shown before each selected line, and after it */
#define SOURCE_AROUND 6

struct source_line {
    uint32_t file; /* number of the file's path in the page's list of strings */
    int line;
};

struct source_lines {
    struct source_line *line; /* selected lines, sorted by file and line, each listed once */
    size_t count;
};

/* A source line that may be selected, with its cost. */
struct candidate {
    struct source_line at;
    double value[METRIC_COLUMNS];
    double share; /* the line's largest share of any metric */
};

struct candidates {
    const struct page *page;
    struct candidate *list;
    size_t count, room;
    struct pair_map map;
};

static void page_sources_add(struct candidates *candidates, uint32_t file, int line, const struct profile_sums *sums)
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

static int page_sources_compare_shares(const void *left, const void *right)
{
    const struct candidate *a = left, *b = right;
    if (a->share != b->share)
        return (a->share < b->share) - (a->share > b->share);
    if (a->at.file != b->at.file)
        return a->at.file < b->at.file ? -1 : 1;
    return (a->at.line > b->at.line) - (a->at.line < b->at.line);
}

static int page_sources_compare_places(const void *left, const void *right)
{
    const struct source_line *a = left, *b = right;
    if (a->file != b->file)
        return a->file < b->file ? -1 : 1;
    return (a->line > b->line) - (a->line < b->line);
}

/* Appends the candidates with the largest shares to `lines`, and frees the array of candidates. */
static void page_sources_keep_best(struct candidates *candidates, struct source_lines *lines)
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
        qsort(candidates->list, candidates->count, sizeof *candidates->list, page_sources_compare_shares);
    size_t kept = candidates->count < SOURCE_LINES ? candidates->count : SOURCE_LINES;
    for (size_t i = 0; i < kept && candidates->list[i].share > 0; i++)
        lines->line[lines->count++] = candidates->list[i].at;
    pair_map_free(&candidates->map);
    free(candidates->list);
}

static const struct page_label *page_sources_label_of(const struct page *page, size_t row)
{
    return &page->labels[page->label[row]];
}

static void page_sources_choose_statements(const struct page *page, struct source_lines *lines)
{
    struct candidates candidates = {.page = page};
    for (size_t i = 0; i < page->rows->count; i++)
        if (page->rows->row[i].kind == ROW_STATEMENT)
            page_sources_add(&candidates, page_sources_label_of(page, i)->file, page_sources_label_of(page, i)->line,
                             page->rows->row[i].exclusive);
    page_sources_keep_best(&candidates, lines);
}

static void page_sources_choose_calls(const struct page *page, struct source_lines *lines)
{
    struct candidates candidates = {.page = page};
    for (size_t i = 1; i < page->rows->count; i++) {
        const struct row *row = &page->rows->row[i];
        if (row->kind == ROW_STATEMENT)
            continue;
        page_sources_add(&candidates, page_sources_label_of(page, i)->file, page_sources_label_of(page, i)->line,
                         row->inclusive);
        page_sources_add(&candidates, page_sources_label_of(page, row->parent)->file, row->call_line, row->inclusive);
    }
    page_sources_keep_best(&candidates, lines);
}

/* Selects lines in two ways: statements by their own cost, and call sites and first lines of functions by the
 * inclusive cost of their rows. The cost of a line is its largest share of any metric. */
static void page_sources_choose(struct page *page, struct source_lines *lines)
{
    *lines = (struct source_lines){.line = memory_array(2 * SOURCE_LINES, sizeof *lines->line)};
    page_sources_choose_statements(page, lines);
    page_sources_choose_calls(page, lines);
    qsort(lines->line, lines->count, sizeof *lines->line, page_sources_compare_places);
    size_t kept = 0;
    for (size_t i = 0; i < lines->count; i++)
        if (kept == 0 || page_sources_compare_places(&lines->line[kept - 1], &lines->line[i]) != 0)
            lines->line[kept++] = lines->line[i];
    lines->count = kept;
}

/* ---- excerpts ---- */

#define LINE_BYTES 400 /* maximum number of bytes written for a line */
#define CUT_MARK   "\xe2\x80\xa6"

/* The result of reading a file. Files that could not be read are listed after the excerpts. */
struct outcome {
    uint32_t file;
    char *why; /* reason why the file could not be read; NULL: it was read */
    bool changed;
};

struct sources {
    struct page *page;
    const struct source_lines *lines;
    struct outcome *outcome;
    size_t outcome_count;
    bool first; /* whether no excerpt has been written yet */
};

/* Writes the text of a line without its newline. A text that is too long is truncated between two characters. */
static void page_sources_put_line(struct page *page, const char *line, size_t bytes)
{
    char text[LINE_BYTES + sizeof CUT_MARK];
    size_t kept = bytes;
    if (kept && line[kept - 1] == '\r')
        kept--;
    bool cut = kept > LINE_BYTES;
    if (cut)
        for (kept = LINE_BYTES; kept > LINE_BYTES - 4 && (line[kept] & 0xc0) == 0x80;)
            kept--;
    memcpy(text, line, kept);
    strcpy(text + kept, cut ? CUT_MARK : "");
    page_text(page, text);
}

/* Writes one excerpt, the lines from `first` to `last` as far as they exist. Returns the position after them. */
static const char *page_sources_put_excerpt(struct sources *sources, uint32_t file, const char *text, int first,
                                            int last)
{
    FILE *out = sources->page->out;
    fprintf(out, "%s{\"file\":%u,\"first\":%d,\"lines\":[", sources->first ? "" : ",\n", file, first);
    sources->first = false;
    for (int line = first; line <= last && *text; line++) {
        size_t bytes = strcspn(text, "\n");
        fputs(line > first ? "," : "", out);
        page_sources_put_line(sources->page, text, bytes);
        text += bytes + (text[bytes] == '\n');
    }
    fputs("]}", out);
    return text;
}

static const char *page_sources_skip_lines(const char *text, int from, int to)
{
    for (; from < to && *text; from++) {
        text += strcspn(text, "\n");
        text += *text == '\n';
    }
    return text;
}

/* Writes excerpts of one file around `count` selected lines, which are sorted. Lines beyond the end of the
 * file are skipped, because the file may have become shorter since the run. */
static void page_sources_put_file(struct sources *sources, const struct source_line *line, size_t count,
                                  const char *text)
{
    int at = 1; /* number of the line that starts at `text` */
    for (size_t i = 0; i < count && *text;) {
        int first = line[i].line > SOURCE_AROUND ? line[i].line - SOURCE_AROUND : 1, last;
        do
            last = line[i].line < INT32_MAX - SOURCE_AROUND ? line[i].line + SOURCE_AROUND : INT32_MAX - 1;
        while (++i < count && line[i].line - SOURCE_AROUND <= last + 1);
        text = page_sources_skip_lines(text, at, first);
        if (*text)
            text = page_sources_put_excerpt(sources, line->file, text, first, last);
        at = last + 1;
    }
}

static void page_sources_read_file(struct sources *sources, const struct source_line *line, size_t count)
{
    struct page *page = sources->page;
    struct source_file file;
    const char *why;
    struct outcome outcome = {.file = line->file};
    if (source_file_read(&file, strings_text(page->strings, line->file), page->options->source_dir,
                         source_shown_to_others(page->out), &why)) {
        outcome.changed = file.changed_ns > page->input->profile->header.start_realtime_ns;
        page_sources_put_file(sources, line, count, file.text);
        source_file_free(&file);
        page->result->sources++;
    } else {
        outcome.why = memory_text("%s", why);
        page->result->sources_missing++;
    }
    sources->outcome[sources->outcome_count++] = outcome;
}

static void page_sources_put_changed(const struct sources *sources)
{
    const char *before = "";
    fputs(",\n\"sources_changed\":[", sources->page->out);
    for (size_t i = 0; i < sources->outcome_count; i++)
        if (sources->outcome[i].changed) {
            fprintf(sources->page->out, "%s%u", before, sources->outcome[i].file);
            before = ",";
        }
    putc(']', sources->page->out);
}

static void page_sources_put_missing(const struct sources *sources)
{
    FILE *out = sources->page->out;
    bool first = true;
    fputs(",\n\"sources_missing\":[", out);
    for (size_t i = 0; i < sources->outcome_count; i++) {
        const struct outcome *outcome = &sources->outcome[i];
        if (!outcome->why)
            continue;
        fprintf(out, "%s{\"file\":%u,\"why\":", first ? "" : ",", outcome->file);
        page_text(sources->page, outcome->why);
        putc('}', out);
        first = false;
    }
    putc(']', out);
}

static void page_sources_put_files(struct sources *sources)
{
    const struct source_lines *lines = sources->lines;
    for (size_t i = 0, next; i < lines->count && !ferror(sources->page->out); i = next) {
        for (next = i + 1; next < lines->count && lines->line[next].file == lines->line[i].file;)
            next++;
        page_sources_read_file(sources, &lines->line[i], next - i);
    }
}

void page_put_sources(struct page *page)
{
    struct source_lines lines = {0};
    struct sources sources = {.page = page, .lines = &lines, .first = true};
    fprintf(page->out, "\n\"sources_wanted\":%s,\n\"sources\":[", page->options->no_source ? "false" : "true");
    if (!page->options->no_source)
        page_sources_choose(page, &lines);
    sources.outcome = memory_array(lines.count, sizeof *sources.outcome);
    page_sources_put_files(&sources);
    putc(']', page->out);
    page_sources_put_missing(&sources);
    page_sources_put_changed(&sources);
    for (size_t i = 0; i < sources.outcome_count; i++)
        free(sources.outcome[i].why);
    free(sources.outcome);
    free(lines.line);
}
