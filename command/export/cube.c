/* Writes Cube 4's file format, an uncompressed ustar archive. It contains anchor.xml and two files for each
 * metric: N.index lists the contexts that have a value, and N.data contains the values.
 * docs/cube_file_format.md of github.com/extra-p/pycubexr describes the format. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/export/export.h"
#include "command/export/formats.h"
#include "command/export/frames.h"
#include "command/export/locations.h"
#include "command/export/measures.h"
#include "command/text/format.h"
#include "command/text/memory.h"

struct cube {
    struct locations *locations;
    uint32_t *order; /* indices of the locations in Cube's order, which groups locations by node */
    /* for each row, the number of its context in Cube, counted in preorder; statement rows have no context */
    uint32_t *context;
    uint32_t contexts;
    struct measures measures;
    size_t columns; /* number of measures that are written, which are the first ones in `measures` */
};

/* ---- anchor.xml: the names of metrics, contexts and locations ---- */

/* Writes text as XML. U+FFFD replaces the characters that XML 1.0 does not allow in any form. */
static void cube_put_xml_text(FILE *out, const char *text)
{
    char *clean = format_clean(text, true);
    for (char *c = clean; *c; c++) {
        const char *escaped = *c == '&'   ? "&amp;"
                              : *c == '<' ? "&lt;"
                              : *c == '>' ? "&gt;"
                              : *c == '"' ? "&quot;"
                                          : NULL;
        if (strncmp(c, "\xef\xbf\xbe", 3) == 0 || strncmp(c, "\xef\xbf\xbf", 3) == 0)
            c[2] = '\xbd';
        if (escaped)
            fputs(escaped, out);
        else
            putc(*c, out);
    }
    free(clean);
}

static void cube_put_element(FILE *out, const char *name, const char *text)
{
    fprintf(out, "<%s>", name);
    cube_put_xml_text(out, text);
    fprintf(out, "</%s>\n", name);
}

static void cube_put_metric(FILE *out, const struct measure *measure, size_t index)
{
    fprintf(out, "<metric id=\"%zu\" type=\"EXCLUSIVE\">\n", index);
    cube_put_element(out, "disp_name", measure->title);
    cube_put_element(out, "uniq_name", measure->word);
    cube_put_element(out, "dtype", measure->whole ? "UINT64" : "DOUBLE");
    cube_put_element(out, "uom", measure->in_seconds ? "sec" : "occ");
    fputs("<url></url>\n", out);
    cube_put_element(out, "descr", measure->about);
}

static void cube_put_metrics(FILE *out, const struct cube *cube)
{
    size_t open = 0;
    fputs("<metrics>\n", out);
    for (size_t i = 0; i < cube->columns; i++) {
        for (; open > cube->measures.measure[i].level; open--)
            fputs("</metric>\n", out);
        cube_put_metric(out, &cube->measures.measure[i], i);
        open++;
    }
    for (; open; open--)
        fputs("</metric>\n", out);
    fputs("</metrics>\n", out);
}

static void cube_put_region(FILE *out, size_t id, const struct row *row)
{
    const struct row_label *label = row->label;
    const char *role = row->kind == ROW_PARALLEL ? "parallel"
                       : row->kind == ROW_TASK   ? "task"
                       : row->kind == ROW_PSEUDO ? "artificial"
                                                 : "function";
    fprintf(out, "<region id=\"%zu\" mod=\"", id);
    cube_put_xml_text(out, label->file);
    fprintf(out, "\" begin=\"%d\" end=\"-1\">\n", label->line > 0 ? label->line : -1);
    cube_put_element(out, "name", label->name);
    cube_put_element(out, "mangled_name", label->name);
    cube_put_element(out, "paradigm", row_is_probe(row) ? "user" : "sampling");
    cube_put_element(out, "role", role);
    fputs("<url></url>\n", out);
    cube_put_element(out, "descr", label->module);
    fputs("</region>\n", out);
}

/* Writes the contexts in preorder. The indices of exclusive metrics count them in the same order. */
static void cube_put_contexts(FILE *out, const struct rows *rows, const struct frames *frames)
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

static void cube_put_program(FILE *out, const struct rows *rows)
{
    struct frames frames;
    size_t listed = 0;
    export_frames_gather(&frames, rows);
    fputs("<program>\n", out);
    for (uint32_t i = 0; i < rows->count; i++)
        if (frames.of_row[i] == listed)
            cube_put_region(out, listed++, &rows->row[i]);
    cube_put_contexts(out, rows, &frames);
    fputs("</program>\n", out);
    export_frames_free(&frames);
}

static void cube_put_process(FILE *out, const struct cube *cube, const struct location *location)
{
    const struct profile *profile = cube->locations->profile;
    char *name = location->kind == LOCATION_ALL && profile->rank_count
                     ? memory_text("%zu ranks, summed", profile->rank_count)
                 : location->of_rank ? memory_text("rank %u.%u", location->rank, location->of_rank)
                 : location->ranked  ? memory_text("rank %u", location->rank)
                 : location->pid     ? memory_text("process %d", (int)location->pid)
                                     : memory_text("process");
    fprintf(out, "<locationgroup Id=\"%zu\">\n", location->process);
    cube_put_element(out, "name", name);
    fprintf(out, "<rank>%zu</rank>\n<type>process</type>\n", location->ranked ? location->rank : location->process);
    free(name);
}

static void cube_put_location(FILE *out, const struct location *location, uint32_t id)
{
    fprintf(out, "<location Id=\"%u\">\n<name>", id);
    if (location->thread == LOCATION_NO_THREAD)
        fputs("all threads, summed", out);
    else
        fprintf(out, "thread %zu", location->thread);
    fprintf(out, "</name>\n<rank>%u</rank>\n<type>thread</type>\n</location>\n", location->number);
}

/* Writes hosts, processes and threads. N.data has its values in the order in which the locations appear here. */
static void cube_put_system(FILE *out, const struct cube *cube)
{
    const struct locations *locations = cube->locations;
    const struct location *before = NULL;
    fputs("<system>\n<systemtreenode Id=\"0\">\n<name>machine</name>\n<class>machine</class>\n", out);
    for (uint32_t i = 0; i < locations->count; i++) {
        const struct location *location = &locations->location[cube->order[i]];
        bool new_node = !before || before->node != location->node;
        if (before && (new_node || before->process != location->process))
            fputs("</locationgroup>\n", out);
        if (new_node) {
            fprintf(out, "%s<systemtreenode Id=\"%u\">\n", before ? "</systemtreenode>\n" : "", 1 + location->node);
            cube_put_element(out, "name",
                             *location->host                                                          ? location->host
                             : location->kind == LOCATION_ALL && cube->locations->profile->rank_count ? "all nodes"
                                                                                                      : "node");
            fputs("<class>node</class>\n", out);
        }
        if (new_node || before->process != location->process)
            cube_put_process(out, cube, location);
        cube_put_location(out, location, i);
        before = location;
    }
    fputs("</locationgroup>\n</systemtreenode>\n</systemtreenode>\n</system>\n", out);
}

static void cube_put_anchor(FILE *out, const struct cube *cube)
{
    const char *command = profile_text(cube->locations->profile, "command");
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<cube version=\"4.4\">\n"
          "<attr key=\"Creator\" value=\"blame " BLAME_VERSION "\"/>\n<attr key=\"command\" value=\"",
          out);
    cube_put_xml_text(out, command ? command : "");
    fputs("\"/>\n", out);
    cube_put_metrics(out, cube);
    cube_put_program(out, cube->locations->rows);
    cube_put_system(out, cube);
    fputs("</cube>\n", out);
}

#define BUFFER_BYTES (4u << 20) /* size of all cursors' buffers together, in bytes */
#define BUFFER_LEAST 64u        /* minimum size of a cursor's buffer, in records */

struct __attribute__((packed)) record {
    uint32_t context;
    double value;
};

/* The records of one location and column, which are adjacent in the temporary file and sorted by context. */
struct stretch {
    uint64_t first, count; /* index of the first record in the temporary file, and number of records */
};

struct cube_values {
    const struct cube *cube;
    FILE *file;
    uint64_t records;
    /* stretches; the stretch of a column and of the location at position i in Cube's order has the index i *
     * columns + column */
    struct stretch *stretch;
    uint64_t **has; /* for each column, a bitmap of the contexts with a value */
};

/* Returns whether the column is a sum of other columns. Such a column is not stored in the temporary file. */
static bool cube_column_has_parts(const struct cube *cube, size_t column)
{
    return column + 1 < cube->columns && cube->measures.measure[column + 1].parent == column;
}

static bool cube_column_is_part(const struct cube *cube, size_t column, size_t of)
{
    while (column != of && column != MEASURE_NO_PARENT)
        column = cube->measures.measure[column].parent;
    return column == of;
}

static void cube_mark_context(struct cube_values *values, size_t column, uint32_t context)
{
    for (; column != MEASURE_NO_PARENT; column = values->cube->measures.measure[column].parent)
        values->has[column][context / 64] |= UINT64_C(1) << context % 64;
}

static bool cube_context_has_value(const struct cube_values *values, size_t column, uint32_t context)
{
    return values->has[column][context / 64] >> context % 64 & 1;
}

static void cube_spill_column(struct cube_values *values, const struct location_rows *read, size_t column,
                              struct stretch *stretch)
{
    const struct cube *cube = values->cube;
    stretch->first = values->records;
    for (size_t i = 0; i < read->rows->count; i++) {
        const struct row *row = &read->rows->row[i];
        double own =
            row->kind == ROW_STATEMENT ? 0 : export_measure_own(&cube->measures.measure[column], read->rows, row);
        if (own == 0)
            continue;
        struct record record = {.context = cube->context[read->of[i]], .value = own};
        fwrite(&record, sizeof record, 1, values->file);
        cube_mark_context(values, column, record.context);
        values->records++;
    }
    stretch->count = values->records - stretch->first;
}

static bool cube_spill(struct cube_values *values)
{
    const struct cube *cube = values->cube;
    for (size_t i = 0; i < cube->locations->count; i++) {
        struct location_rows read;
        if (!export_locations_read(cube->locations, cube->order[i], &read))
            return false;
        for (size_t column = 0; column < cube->columns; column++)
            if (!cube_column_has_parts(cube, column))
                cube_spill_column(values, &read, column, &values->stretch[i * cube->columns + column]);
        export_location_rows_free(&read);
    }
    return fflush(values->file) == 0 && !ferror(values->file);
}

/* Opens a temporary file and removes its name, so that the file disappears even if the command is killed.
 * tmpfile() would ignore TMPDIR. */
static FILE *cube_open_spill_file(const char *directory)
{
    char *path = memory_text("%s/blame-cube-XXXXXX", directory);
    int file = mkostemp(path, O_CLOEXEC);
    if (file >= 0)
        unlink(path);
    free(path);
    return file < 0 ? NULL : fdopen(file, "w+");
}

static void cube_values_free(struct cube_values *values)
{
    if (!values)
        return;
    for (size_t i = 0; i < values->cube->columns; i++)
        free(values->has[i]);
    free(values->has);
    free(values->stretch);
    if (values->file)
        fclose(values->file);
    free(values);
}

/* Reads the values of all locations and stores them in a temporary file. Returns NULL and sets errno on
 * failure. */
static struct cube_values *cube_values_read(const struct cube *cube)
{
    const char *given = getenv("TMPDIR"), *directory = given && *given ? given : "/tmp";
    struct cube_values *values = memory_array(1, sizeof *values);
    *values =
        (struct cube_values){.cube = cube,
                             .file = cube_open_spill_file(directory),
                             .stretch = memory_array(cube->locations->count * cube->columns, sizeof *values->stretch),
                             .has = memory_array(cube->columns, sizeof *values->has)};
    for (size_t i = 0; i < cube->columns; i++)
        values->has[i] = memory_array(cube->contexts / 64 + 1, sizeof **values->has);
    for (size_t i = 0; i < cube->columns; i++) /* readers require at least one context in each column */
        cube_mark_context(values, i, 0);
    if (values->file && cube_spill(values))
        return values;
    int why = errno;
    if (!values->file || ferror(values->file))
        snprintf(cube->locations->refusal, sizeof cube->locations->refusal,
                 "%s: cannot store temporary values: %s; nothing was written. Set TMPDIR to another directory",
                 directory, strerror(why));
    cube_values_free(values);
    errno = why;
    return NULL;
}

/* Returns how many contexts have a value in the column, which is at least 1. */
static uint32_t cube_values_contexts(const struct cube_values *values, size_t column)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < values->cube->contexts; i++)
        count += cube_context_has_value(values, column, i);
    return count;
}

/* Writes N.index: the numbers of the contexts with a value in the column, in increasing order. */
static void cube_values_put_index(const struct cube_values *values, FILE *out, size_t column)
{
    for (uint32_t i = 0; i < values->cube->contexts; i++)
        if (cube_context_has_value(values, column, i))
            fwrite(&i, sizeof i, 1, out);
}

/* A position in a stretch of records, and a buffer for the next records. */
struct cursor {
    struct stretch left; /* records that have not been read into the buffer */
    struct record *buffer;
    uint32_t at, count;
};

static bool cube_fill_buffer(const struct cube_values *values, struct cursor *cursor, uint32_t room)
{
    cursor->at = 0;
    cursor->count = cursor->left.count < room ? (uint32_t)cursor->left.count : room;
    size_t bytes = cursor->count * sizeof *cursor->buffer, got = 0;
    while (got < bytes) {
        ssize_t now = pread(fileno(values->file), (char *)cursor->buffer + got, bytes - got,
                            (off_t)(cursor->left.first * sizeof *cursor->buffer + got));
        if (now <= 0) {
            errno = now ? errno : EIO;
            return false;
        }
        got += (size_t)now;
    }
    cursor->left.first += cursor->count;
    cursor->left.count -= cursor->count;
    return true;
}

/* Computes the value of a context for each location, as the sum over the stretches. Contexts must be visited
 * in increasing order. */
static bool cube_sum_context(const struct cube_values *values, uint32_t context, struct cursor *cursor, size_t cursors,
                             uint32_t room, double *sums)
{
    size_t locations = values->cube->locations->count;
    memset(sums, 0, locations * sizeof *sums);
    for (size_t i = 0; i < cursors; i++) {
        struct cursor *from = &cursor[i];
        if (from->at == from->count && from->left.count && !cube_fill_buffer(values, from, room))
            return false;
        if (from->at < from->count && from->buffer[from->at].context == context)
            sums[i % locations] += from->buffer[from->at++].value;
    }
    return true;
}

/* Finds the stretches of a column and of its parts, for all locations. Returns their number. */
static size_t cube_find_stretches(const struct cube_values *values, size_t column, struct cursor *cursor)
{
    const struct cube *cube = values->cube;
    size_t count = 0;
    for (size_t part = column; part < cube->columns; part++)
        for (size_t i = 0; i < cube->locations->count && cube_column_is_part(cube, part, column) &&
                           !cube_column_has_parts(cube, part);
             i++)
            cursor[count++].left = values->stretch[i * cube->columns + part];
    return count;
}

/* Writes N.data: for each context in N.index, one value for each location. Returns false and sets errno on
 * failure. */
static bool cube_values_put(const struct cube_values *values, FILE *out, size_t column)
{
    const struct cube *cube = values->cube;
    size_t locations = cube->locations->count;
    struct cursor *cursor = memory_array(locations * cube->columns, sizeof *cursor);
    size_t cursors = cube_find_stretches(values, column, cursor),
           share = BUFFER_BYTES / sizeof(struct record) / cursors;
    uint32_t room = share > BUFFER_LEAST ? (uint32_t)share : BUFFER_LEAST;
    struct record *buffer = memory_array(cursors * room, sizeof *buffer);
    double *sums = memory_array(locations, sizeof *sums);
    for (size_t i = 0; i < cursors; i++)
        cursor[i].buffer = buffer + i * room;
    bool good = true;
    for (uint32_t context = 0; good && context < cube->contexts; context++) {
        if (!cube_context_has_value(values, column, context))
            continue;
        good = cube_sum_context(values, context, cursor, cursors, room, sums);
        for (size_t i = 0; cube->measures.measure[column].whole && i < locations; i++)
            memcpy(&sums[i], &(uint64_t){sums[i] > 0 ? (uint64_t)export_whole(sums[i]) : 0}, sizeof *sums);
        good = good && fwrite(sums, sizeof *sums, locations, out) == locations;
    }
    int why = errno;
    free(cursor);
    free(buffer);
    free(sums);
    errno = why;
    return good;
}

/* ---- the archive ---- */

#define BLOCK 512
/* largest size in ustar's octal field; larger sizes use the binary form of GNU tar */
#define OCTAL_MOST  077777777777
#define CUBE_SPARSE 1 /* says that the index lists only the contexts that have values */

/* Writes the header of a file in the archive. The header names no owner and no time, so equal profiles give
 * equal archives. */
static void cube_put_tar_header(FILE *out, const char *name, uint64_t size)
{
    char block[BLOCK] = {0};
    snprintf(block, 100, "%s", name);
    memcpy(block + 100,
           "0000644\0"
           "0000000\0"
           "0000000",
           24);
    snprintf(block + 124, 12, "%011llo", (unsigned long long)(size & OCTAL_MOST));
    for (int i = 0; size > OCTAL_MOST && i < 12; i++)
        block[124 + i] = (char)(i == 0 ? 0x80 : i < 4 ? 0 : size >> 8 * (11 - i));
    memcpy(block + 136,
           "00000000000\0"
           "        0",
           21);
    memcpy(block + 257,
           "ustar\0"
           "00",
           8);
    unsigned sum = 0;
    for (size_t i = 0; i < BLOCK; i++)
        sum += (unsigned char)block[i];
    snprintf(block + 148, 8, "%06o", sum & 0777777);
    fwrite(block, 1, BLOCK, out);
}

static void cube_put_tar_padding(FILE *out, uint64_t size)
{
    static const char nothing[BLOCK];
    fwrite(nothing, 1, (BLOCK - size % BLOCK) % BLOCK, out);
}

static void cube_put_anchor_file(FILE *out, const struct cube *cube)
{
    char *text;
    FILE *anchor = memory_stream(&text);
    cube_put_anchor(anchor, cube);
    memory_stream_close(anchor);
    size_t size = strlen(text);
    cube_put_tar_header(out, "anchor.xml", size);
    fwrite(text, 1, size, out);
    cube_put_tar_padding(out, size);
    free(text);
}

static bool cube_put_column(FILE *out, const struct cube *cube, const struct cube_values *values, size_t column)
{
    struct __attribute__((packed)) {
        char marker[11];
        uint32_t one; /* the number 1, by which readers recognize the byte order */
        uint16_t version;
        uint8_t type;
        uint32_t count;
    } head = {.marker = "CUBEX.INDEX", .one = 1, .type = CUBE_SPARSE, .count = cube_values_contexts(values, column)};
    static const char data_marker[10] = "CUBEX.DATA";
    char name[32];
    uint64_t index_size = sizeof head + head.count * sizeof(uint32_t);
    uint64_t data_size = sizeof data_marker + (uint64_t)head.count * cube->locations->count * sizeof(uint64_t);
    snprintf(name, sizeof name, "%zu.index", column);
    cube_put_tar_header(out, name, index_size);
    fwrite(&head, sizeof head, 1, out);
    cube_values_put_index(values, out, column);
    cube_put_tar_padding(out, index_size);
    snprintf(name, sizeof name, "%zu.data", column);
    cube_put_tar_header(out, name, data_size);
    fwrite(data_marker, sizeof data_marker, 1, out);
    bool good = cube_values_put(values, out, column);
    cube_put_tar_padding(out, data_size);
    return good && !ferror(out);
}

static void cube_order_locations(struct cube *cube)
{
    const struct locations *locations = cube->locations;
    uint32_t *end = memory_array(locations->nodes + 1, sizeof *end);
    cube->order = memory_array(locations->count, sizeof *cube->order);
    for (size_t i = 0; i < locations->count; i++)
        end[locations->location[i].node + 1]++;
    for (size_t i = 0; i < locations->nodes; i++)
        end[i + 1] += end[i];
    for (uint32_t i = 0; i < locations->count; i++)
        cube->order[end[locations->location[i].node]++] = i;
    free(end);
}

static void cube_number_contexts(struct cube *cube)
{
    const struct rows *rows = cube->locations->rows;
    cube->context = memory_array(rows->count, sizeof *cube->context);
    for (size_t i = 0; i < rows->count; i++)
        if (rows->row[i].kind != ROW_STATEMENT)
            cube->context[i] = cube->contexts++;
}

bool export_cube(FILE *out, const struct export_input *input)
{
    static const char end[2 * BLOCK];
    struct cube cube = {.locations = input->locations};
    export_measures_gather(&cube.measures, cube.locations->rows);
    cube.columns = export_measures_own(&cube.measures);
    cube_order_locations(&cube);
    cube_number_contexts(&cube);
    struct cube_values *values = cube_values_read(&cube);
    bool good = values;
    if (good)
        cube_put_anchor_file(out, &cube);
    for (size_t i = 0; good && i < cube.columns; i++)
        good = cube_put_column(out, &cube, values, i);
    good = good && fwrite(end, sizeof end, 1, out) == 1;
    int why = errno;
    cube_values_free(values);
    export_measures_free(&cube.measures);
    free(cube.order);
    free(cube.context);
    errno = why;
    return good;
}
