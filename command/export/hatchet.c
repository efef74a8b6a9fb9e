#include <stdlib.h>

#include "command/export/export.h"
#include "command/export/formats.h"
#include "command/export/frames.h"
#include "command/export/measures.h"
#include "command/text/format.h"
#include "command/text/json_text.h"
#include "command/text/memory.h"

#define INCLUSIVE " (inc)"

/* JSON text for each function. All rows of a function share it, because escaping a name for each of a million
 * rows takes seconds. */
struct texts {
    char **name, **place;
    size_t count;
};

/* A column with the values of a measure that is not a metric: calls, exact time, a counter or an error. */
struct column {
    const struct measure *measure;
    bool inclusive;
    char *title; /* title, as a JSON string */
};

struct columns {
    struct measures measures;
    struct column *column;
    size_t count;
};

static void hatchet_free_columns(struct columns *columns)
{
    for (size_t i = 0; i < columns->count; i++)
        free(columns->column[i].title);
    free(columns->column);
    export_measures_free(&columns->measures);
}

static struct columns hatchet_make_columns(const struct rows *rows)
{
    struct columns columns = {0};
    export_measures_gather_beside(&columns.measures, rows, true);
    columns.column = memory_array(2 * columns.measures.count, sizeof *columns.column);
    for (size_t i = 0; i < 2 * columns.measures.count; i++) {
        struct column *column = &columns.column[columns.count];
        *column = (struct column){.measure = &columns.measures.measure[i / 2], .inclusive = i % 2 == 0};
        if (!export_measure_has(column->measure, column->inclusive))
            continue;
        char *title = memory_text("%s%s", column->measure->title, column->inclusive ? INCLUSIVE : "");
        FILE *out = memory_stream(&column->title);
        json_text(out, title);
        memory_stream_close(out);
        free(title);
        columns.count++;
    }
    return columns;
}

static void hatchet_free_texts(struct texts *texts)
{
    for (size_t i = 0; i < texts->count; i++) {
        free(texts->name[i]);
        free(texts->place[i]);
    }
    free(texts->name);
    free(texts->place);
}

static void hatchet_write_name(FILE *out, const struct row_label *label)
{
    fputs("\"name\":", out);
    json_text(out, label->name);
}

static void hatchet_write_place(FILE *out, const struct row_label *label)
{
    fputs("\"module\":", out);
    json_text(out, label->module);
    fputs(",\"file\":", out);
    json_text(out, label->file);
    fprintf(out, ",\"line\":%d", label->line);
}

static char *hatchet_json_of(void (*write)(FILE *out, const struct row_label *label), const struct row_label *label)
{
    char *text;
    FILE *out = memory_stream(&text);
    write(out, label);
    memory_stream_close(out);
    return text;
}

static struct texts hatchet_make_texts(const struct frames *frames)
{
    struct texts texts = {.name = memory_array(frames->count, sizeof *texts.name),
                          .place = memory_array(frames->count, sizeof *texts.place),
                          .count = frames->count};
    for (size_t i = 0; i < frames->count; i++) {
        texts.name[i] = hatchet_json_of(hatchet_write_name, frames->label[i]);
        texts.place[i] = hatchet_json_of(hatchet_write_place, frames->label[i]);
    }
    return texts;
}

static void hatchet_put_integer(FILE *out, uint64_t number)
{
    char text[FORMAT_NUMBER_BYTES];
    fwrite(text, 1, (size_t)(format_integer(text, number) - text), out);
}

/* Writes a value. ns become seconds with at most nine decimals and without trailing zeros; other values are
 * written as they are. */
static void hatchet_put_value(FILE *out, int64_t value, bool in_ns)
{
    if (value < 0)
        putc('-', out);
    uint64_t magnitude = value < 0 ? (uint64_t)-value : (uint64_t)value;
    if (!in_ns) {
        hatchet_put_integer(out, magnitude);
        return;
    }
    hatchet_put_integer(out, magnitude / 1000000000);
    char digits[10];
    int count = 9;
    uint64_t fraction = magnitude % 1000000000;
    for (int i = 8; i >= 0; i--, fraction /= 10)
        digits[i] = (char)('0' + fraction % 10);
    while (count && digits[count - 1] == '0')
        count--;
    if (count) {
        putc('.', out);
        fwrite(digits, 1, (size_t)count, out);
    }
}

static void hatchet_put_node(FILE *out, const struct rows *rows, uint32_t index, const char *name)
{
    const struct row *row = &rows->row[index];
    bool first = true;
    putc('"', out);
    hatchet_put_integer(out, index);
    fprintf(out, "\":{\"data\":{%s,\"type\":\"%s\"},\"children\":[", name, row_kind_name[row->kind]);
    for (uint32_t child = index + 1; child < row->end; child = rows->row[child].end) {
        if (rows->row[child].kind == ROW_STATEMENT)
            continue;
        if (!first)
            putc(',', out);
        hatchet_put_integer(out, child);
        first = false;
    }
    fputs("]}", out);
}

static void hatchet_put_record(FILE *out, const struct rows *rows, const struct columns *columns, uint32_t index,
                               const char *name, const char *place)
{
    const struct row *row = &rows->row[index];
    fputs("{\"node\":", out);
    hatchet_put_integer(out, index);
    fprintf(out, ",%s,\"type\":\"%s\",%s,\"call_line\":%d", name, row_kind_name[row->kind], place, row->call_line);
    for (enum metric metric = 0; metric < METRIC_COLUMNS; metric++) {
        fprintf(out, ",\"%s (inc)\":", metric_title(metric));
        hatchet_put_value(out, export_value(rows, row->inclusive, metric), export_in_ns(rows, metric));
        fprintf(out, ",\"%s\":", metric_title(metric));
        hatchet_put_value(out, export_value(rows, row->exclusive, metric), export_in_ns(rows, metric));
    }
    for (size_t i = 0; i < columns->count; i++) {
        const struct column *column = &columns->column[i];
        putc(',', out);
        fputs(column->title, out);
        putc(':', out);
        if (column->measure->in_seconds)
            hatchet_put_value(out, export_measure_whole(column->measure, rows, row, column->inclusive), true);
        else
            json_decimal(
                out, (column->inclusive ? export_measure_inclusive : export_measure_own)(column->measure, rows, row),
                6);
    }
    putc('}', out);
}

static void hatchet_put_columns(FILE *out, const struct columns *columns, bool inclusive)
{
    for (enum metric metric = 0; metric < METRIC_COLUMNS; metric++)
        fprintf(out, "%s\"%s%s\"", metric ? "," : "", metric_title(metric), inclusive ? INCLUSIVE : "");
    for (size_t i = 0; i < columns->count; i++)
        if (columns->column[i].inclusive == inclusive)
            fprintf(out, ",%s", columns->column[i].title);
}

bool export_hatchet(FILE *out, const struct export_input *input)
{
    const struct rows *rows = input->rows;
    struct frames frames;
    struct columns columns = hatchet_make_columns(rows);
    export_frames_gather(&frames, rows);
    struct texts texts = hatchet_make_texts(&frames);
    fputs("{\"graph\":[{\n", out);
    for (uint32_t i = 0; i < rows->count; i++)
        if (rows->row[i].kind != ROW_STATEMENT) {
            fputs(i ? ",\n" : "", out);
            hatchet_put_node(out, rows, i, texts.name[frames.of_row[i]]);
        }
    fputs("}],\n\"dataframe_indices\":[\"node\"],\n\"dataframe\":[\n", out);
    for (uint32_t i = 0; i < rows->count; i++)
        if (rows->row[i].kind != ROW_STATEMENT) {
            fputs(i ? ",\n" : "", out);
            hatchet_put_record(out, rows, &columns, i, texts.name[frames.of_row[i]], texts.place[frames.of_row[i]]);
        }
    fputs("],\n\"inclusive_metrics\":[", out);
    hatchet_put_columns(out, &columns, true);
    fputs("],\n\"exclusive_metrics\":[", out);
    hatchet_put_columns(out, &columns, false);
    fputs("]}\n", out);
    hatchet_free_texts(&texts);
    export_frames_free(&frames);
    hatchet_free_columns(&columns);
    return !ferror(out);
}
