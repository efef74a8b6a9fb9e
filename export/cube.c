/* Cube 4's container: an uncompressed ustar archive with anchor.xml, and for each metric the contexts that have it (N.index) and their values
 * (N.data). The format's description: docs/cube_file_format.md of github.com/extra-p/pycubexr. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "export/export.h"
#include "export/frames.h"
#include "report/text/format.h"
#include "report/text/memory.h"

#define BLOCK       512
#define OCTAL_MOST  077777777777 /* a file's size in ustar; where there are more, tar programs know eight bytes instead */
#define CUBE_SPARSE 1                   /* an index lists its contexts */

enum kind { OF_METRIC, OF_CALLS, OF_EXACT, OF_COUNTER };

struct column {
    uint8_t kind;
    uint8_t level; /* in the tree of metrics: what is below a metric is a part of it */
    uint16_t number;
};

static const struct column of_all[] = {
    {OF_METRIC, 0, METRIC_EFFORT},   {OF_METRIC, 1, METRIC_WORK},           {OF_METRIC, 1, METRIC_BLAME},         {OF_METRIC, 2, METRIC_IDLENESS},
    {OF_METRIC, 2, METRIC_OVERHEAD}, {OF_METRIC, 2, METRIC_LOCK_WAIT},      {OF_METRIC, 1, METRIC_NO_CORE},       {OF_METRIC, 1, METRIC_BLOCKED},
    {OF_METRIC, 1, METRIC_MPI_WAIT}, {OF_METRIC, 0, METRIC_LOCK_WAIT_HERE}, {OF_METRIC, 0, METRIC_CORE_IDLENESS}, {OF_METRIC, 0, METRIC_SHARED_IDLENESS},
    {OF_METRIC, 0, METRIC_SAMPLES},  {OF_METRIC, 0, METRIC_RANK_IDLENESS},
};
#define OF_ALL (sizeof of_all / sizeof *of_all)

static size_t column_count(const struct rows *rows)
{
    return OF_ALL + (rows->probed ? 2 : 0) + rows->counter_count;
}

static struct column column_of(const struct rows *rows, size_t index)
{
    if (index < OF_ALL)
        return of_all[index];
    index -= OF_ALL;
    if (rows->probed && index < 2)
        return (struct column){.kind = index ? OF_EXACT : OF_CALLS};
    return (struct column){.kind = OF_COUNTER, .number = (uint16_t)(index - (rows->probed ? 2 : 0))};
}

static bool is_whole(const struct column *column)
{
    return column->kind == OF_CALLS || (column->kind == OF_METRIC && column->number == METRIC_SAMPLES);
}

static double own_value(const struct rows *rows, const struct row *row, const struct column *column)
{
    if (column->kind == OF_METRIC)
        return metric_value(rows, row->exclusive, (enum metric)column->number);
    if (!row->extra)
        return 0;
    if (column->kind == OF_COUNTER)
        return row->extra->exclusive.value[column->number];
    return column->kind == OF_CALLS ? (double)row->extra->probe.calls : row->extra->probe.exclusive_ns * 1e-9;
}

/* In front of each file of the archive; without owner and time, so that equal profiles have equal bytes. */
static void put_header(FILE *out, const char *name, uint64_t size)
{
    char block[BLOCK] = {0};
    snprintf(block, 100, "%s", name);
    memcpy(block + 100, "0000644\0" "0000000\0" "0000000", 24);
    snprintf(block + 124, 12, "%011llo", (unsigned long long)(size & OCTAL_MOST));
    for (int i = 0; size > OCTAL_MOST && i < 12; i++)
        block[124 + i] = (char)(i == 0 ? 0x80 : i < 4 ? 0 : size >> 8 * (11 - i));
    memcpy(block + 136, "00000000000\0" "        0", 21);
    memcpy(block + 257, "ustar\0" "00", 8);
    unsigned sum = 0;
    for (size_t i = 0; i < BLOCK; i++)
        sum += (unsigned char)block[i];
    snprintf(block + 148, 8, "%06o", sum & 0777777);
    fwrite(block, 1, BLOCK, out);
}

static void put_padding(FILE *out, uint64_t size)
{
    static const char nothing[BLOCK];
    fwrite(nothing, 1, (BLOCK - size % BLOCK) % BLOCK, out);
}

/* Characters that XML 1.0 cannot have, not even as references, become U+FFFD. */
static void put_text(FILE *out, const char *text)
{
    char *clean = format_clean(text, true);
    for (char *c = clean; *c; c++) {
        const char *escaped = *c == '&' ? "&amp;" : *c == '<' ? "&lt;" : *c == '>' ? "&gt;" : *c == '"' ? "&quot;" : NULL;
        if (strncmp(c, "\xef\xbf\xbe", 3) == 0 || strncmp(c, "\xef\xbf\xbf", 3) == 0)
            c[2] = '\xbd';
        if (escaped)
            fputs(escaped, out);
        else
            putc(*c, out);
    }
    free(clean);
}

static void put_element(FILE *out, const char *name, const char *text)
{
    fprintf(out, "<%s>", name);
    put_text(out, text);
    fprintf(out, "</%s>\n", name);
}

static void put_metric(FILE *out, const struct rows *rows, size_t index)
{
    struct column column = column_of(rows, index);
    const char *title = column.kind == OF_METRIC  ? metric_title((enum metric)column.number)
                        : column.kind == OF_CALLS ? "calls"
                        : column.kind == OF_EXACT ? "exact"
                                                  : rows->counter_name[column.number];
    bool counted = is_whole(&column) || column.kind == OF_COUNTER || (rows->events && column.kind == OF_METRIC);
    char *unique = memory_text("%s", title);
    for (char *c = unique; *c; c++)
        *c = *c == ' ' ? '_' : *c;
    fprintf(out, "<metric id=\"%zu\" type=\"EXCLUSIVE\">\n", index);
    put_element(out, "disp_name", title);
    put_element(out, "uniq_name", unique);
    put_element(out, "dtype", is_whole(&column) ? "UINT64" : "DOUBLE");
    put_element(out, "uom", counted ? "occ" : "sec");
    fputs("<url></url>\n<descr></descr>\n", out);
    free(unique);
}

static void put_metrics(FILE *out, const struct rows *rows)
{
    size_t open = 0;
    fputs("<metrics>\n", out);
    for (size_t i = 0; i < column_count(rows); i++) {
        for (; open > column_of(rows, i).level; open--)
            fputs("</metric>\n", out);
        put_metric(out, rows, i);
        open++;
    }
    for (; open; open--)
        fputs("</metric>\n", out);
    fputs("</metrics>\n", out);
}

static void put_region(FILE *out, size_t id, const struct row *row)
{
    const struct row_label *label = row->label;
    const char *role = row->kind == ROW_PARALLEL ? "parallel" : row->kind == ROW_TASK ? "task" : row->kind == ROW_PSEUDO ? "artificial" : "function";
    fprintf(out, "<region id=\"%zu\" mod=\"", id);
    put_text(out, label->file);
    fprintf(out, "\" begin=\"%d\" end=\"-1\">\n", label->line > 0 ? label->line : -1);
    put_element(out, "name", label->name);
    put_element(out, "mangled_name", label->name);
    put_element(out, "paradigm", row_is_probe(row) ? "user" : "sampling");
    put_element(out, "role", role);
    fputs("<url></url>\n", out);
    put_element(out, "descr", label->module);
    fputs("</region>\n", out);
}

/* Contexts are numbered in preorder: the order in which indices of exclusive metrics count them. */
static void put_contexts(FILE *out, const struct rows *rows, const struct frames *frames)
{
    size_t open = 0, id = 0;
    for (uint32_t i = 0; i < rows->count; i++) {
        const struct row *row = &rows->row[i];
        if (row->kind == ROW_STATEMENT)
            continue;
        for (; open > row->depth; open--)
            fputs("</cnode>\n", out);
        fprintf(out, "<cnode id=\"%zu\" ", id++);
        if (row->call_line > 0)
            fprintf(out, "line=\"%d\" ", row->call_line);
        fprintf(out, "calleeId=\"%u\">\n", frames->of_row[i]);
        open++;
    }
    for (; open; open--)
        fputs("</cnode>\n", out);
}

static void put_program(FILE *out, const struct rows *rows)
{
    struct frames frames;
    size_t listed = 0;
    frames_gather(&frames, rows);
    fputs("<program>\n", out);
    for (uint32_t i = 0; i < rows->count; i++)
        if (frames.of_row[i] == listed)
            put_region(out, listed++, &rows->row[i]);
    put_contexts(out, rows, &frames);
    fputs("</program>\n", out);
    frames_free(&frames);
}

/* One location: rows are sums over threads, and over a job's ranks. */
static void put_system(FILE *out, const struct profile *profile)
{
    const char *host = profile_text(profile, "host");
    char *name = profile->rank_count      ? memory_text("%zu ranks, summed", profile->rank_count)
                 : profile->header.ranks ? memory_text("rank %u", profile->header.rank)
                                         : memory_text("process");
    fputs("<system>\n<systemtreenode Id=\"0\">\n<name>machine</name>\n<class>machine</class>\n<systemtreenode Id=\"1\">\n", out);
    put_element(out, "name", profile->rank_count ? "all nodes" : host ? host : "node");
    fputs("<class>node</class>\n<locationgroup Id=\"0\">\n", out);
    put_element(out, "name", name);
    fprintf(out, "<rank>%u</rank>\n<type>process</type>\n<location Id=\"0\">\n<name>all threads, summed</name>\n<rank>0</rank>\n<type>thread</type>\n",
            profile->rank_count ? 0 : profile->header.rank);
    fputs("</location>\n</locationgroup>\n</systemtreenode>\n</systemtreenode>\n</system>\n", out);
    free(name);
}

static void put_anchor(FILE *out, const struct profile *profile, const struct rows *rows)
{
    char *text;
    FILE *anchor = memory_stream(&text);
    const char *command = profile_text(profile, "command");
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<cube version=\"4.4\">\n"
          "<attr key=\"Creator\" value=\"blame " BLAME_VERSION "\"/>\n<attr key=\"command\" value=\"", anchor);
    put_text(anchor, command ? command : "");
    fputs("\"/>\n", anchor);
    put_metrics(anchor, rows);
    put_program(anchor, rows);
    put_system(anchor, profile);
    fputs("</cube>\n", anchor);
    memory_stream_close(anchor);
    size_t size = strlen(text);
    put_header(out, "anchor.xml", size);
    fwrite(text, 1, size, out);
    put_padding(out, size);
    free(text);
}

/* What contexts have of a metric. `of` and `value` have room for all rows. */
static void put_values(FILE *out, const struct rows *rows, size_t index, uint32_t *of, uint64_t *value)
{
    struct column column = column_of(rows, index);
    uint32_t count = 0, id = 0;
    for (size_t i = 0; i < rows->count; i++) {
        if (rows->row[i].kind == ROW_STATEMENT)
            continue;
        double own = own_value(rows, &rows->row[i], &column);
        if (own != 0 || id == 0) { /* readers want one */
            of[count] = id;
            value[count] = (uint64_t)own;
            if (!is_whole(&column))
                memcpy(&value[count], &own, sizeof own);
            count++;
        }
        id++;
    }
    struct __attribute__((packed)) {
        char marker[11];
        uint32_t one; /* of this byte order */
        uint16_t version;
        uint8_t type;
        uint32_t count;
    } head = {.marker = "CUBEX.INDEX", .one = 1, .type = CUBE_SPARSE, .count = count};
    static const char data_marker[10] = "CUBEX.DATA";
    char name[32];
    uint64_t index_size = sizeof head + count * sizeof *of, data_size = sizeof data_marker + count * sizeof *value;
    snprintf(name, sizeof name, "%zu.index", index);
    put_header(out, name, index_size);
    fwrite(&head, sizeof head, 1, out);
    fwrite(of, sizeof *of, count, out);
    put_padding(out, index_size);
    snprintf(name, sizeof name, "%zu.data", index);
    put_header(out, name, data_size);
    fwrite(data_marker, sizeof data_marker, 1, out);
    fwrite(value, sizeof *value, count, out);
    put_padding(out, data_size);
}

bool export_cube(FILE *out, const struct profile *profile, const struct rows *rows)
{
    static const char end[2 * BLOCK];
    uint32_t *of = memory_array(rows->count, sizeof *of);
    uint64_t *value = memory_array(rows->count, sizeof *value);
    put_anchor(out, profile, rows);
    for (size_t i = 0; !ferror(out) && i < column_count(rows); i++)
        put_values(out, rows, i, of, value);
    if (!ferror(out))
        fwrite(end, sizeof end, 1, out);
    int why = errno;
    free(of);
    free(value);
    errno = why;
    return !ferror(out);
}
