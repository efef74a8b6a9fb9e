#include "export/cube.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "export/export.h"
#include "report/text/memory.h"

#define BUFFER_BYTES (4u << 20) /* of all cursors */
#define BUFFER_LEAST 64u        /* records of one */

struct __attribute__((packed)) record {
    uint32_t context;
    double value;
};

/* Records of one location and column stand together, their contexts rise. */
struct stretch {
    uint64_t first, count; /* records of the file */
};

struct cube_values {
    const struct cube *cube;
    FILE *file;
    uint64_t records;
    struct stretch *stretch; /* by location as it is numbered, and column */
    uint64_t **has;          /* by column, a bit for each context */
};

/* What parts add up to is not in the file. */
static bool has_parts(const struct cube *cube, size_t column)
{
    return column + 1 < cube->columns && cube->measures.measure[column + 1].parent == column;
}

static bool is_part(const struct cube *cube, size_t column, size_t of)
{
    while (column != of && column != MEASURE_NO_PARENT)
        column = cube->measures.measure[column].parent;
    return column == of;
}

static void set_has(struct cube_values *values, size_t column, uint32_t context)
{
    for (; column != MEASURE_NO_PARENT; column = values->cube->measures.measure[column].parent)
        values->has[column][context / 64] |= UINT64_C(1) << context % 64;
}

static bool has(const struct cube_values *values, size_t column, uint32_t context)
{
    return values->has[column][context / 64] >> context % 64 & 1;
}

static void spill_column(struct cube_values *values, const struct location_rows *read, size_t column, struct stretch *stretch)
{
    const struct cube *cube = values->cube;
    stretch->first = values->records;
    for (size_t i = 0; i < read->rows->count; i++) {
        const struct row *row = &read->rows->row[i];
        double own = row->kind == ROW_STATEMENT ? 0 : measure_own(&cube->measures.measure[column], read->rows, row);
        if (own == 0)
            continue;
        struct record record = {.context = cube->context[read->of[i]], .value = own};
        fwrite(&record, sizeof record, 1, values->file);
        set_has(values, column, record.context);
        values->records++;
    }
    stretch->count = values->records - stretch->first;
}

static bool spill(struct cube_values *values)
{
    const struct cube *cube = values->cube;
    for (size_t i = 0; i < cube->locations->count; i++) {
        struct location_rows read;
        if (!locations_read(cube->locations, cube->order[i], &read))
            return false;
        for (size_t column = 0; column < cube->columns; column++)
            if (!has_parts(cube, column))
                spill_column(values, &read, column, &values->stretch[i * cube->columns + column]);
        location_rows_free(&read);
    }
    return fflush(values->file) == 0 && !ferror(values->file);
}

/* No name of it stays: whatever ends the command ends the file. tmpfile() would not look at TMPDIR. */
static FILE *open_spill(const char *directory)
{
    char *path = memory_text("%s/blame-cube-XXXXXX", directory);
    int file = mkostemp(path, O_CLOEXEC);
    if (file >= 0)
        unlink(path);
    free(path);
    return file < 0 ? NULL : fdopen(file, "w+");
}

struct cube_values *cube_values_read(const struct cube *cube)
{
    const char *given = getenv("TMPDIR"), *directory = given && *given ? given : "/tmp";
    struct cube_values *values = memory_array(1, sizeof *values);
    *values = (struct cube_values){.cube = cube, .file = open_spill(directory), .stretch = memory_array(cube->locations->count * cube->columns, sizeof *values->stretch),
                                   .has = memory_array(cube->columns, sizeof *values->has)};
    for (size_t i = 0; i < cube->columns; i++)
        values->has[i] = memory_array(cube->contexts / 64 + 1, sizeof **values->has);
    for (size_t i = 0; i < cube->columns; i++) /* readers want one */
        set_has(values, i, 0);
    if (values->file && spill(values))
        return values;
    int why = errno;
    if (!values->file || ferror(values->file))
        snprintf(cube->locations->refusal, sizeof cube->locations->refusal,
                 "%s: no room for the values by thread: %s; nothing was written: name another directory by TMPDIR", directory, strerror(why));
    cube_values_free(values);
    errno = why;
    return NULL;
}

void cube_values_free(struct cube_values *values)
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

uint32_t cube_values_contexts(const struct cube_values *values, size_t column)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < values->cube->contexts; i++)
        count += has(values, column, i);
    return count;
}

void cube_values_put_index(const struct cube_values *values, FILE *out, size_t column)
{
    for (uint32_t i = 0; i < values->cube->contexts; i++)
        if (has(values, column, i))
            fwrite(&i, sizeof i, 1, out);
}

/* Goes through a stretch. */
struct cursor {
    struct stretch left; /* behind the buffer */
    struct record *buffer;
    uint32_t at, count;
};

static bool fill(const struct cube_values *values, struct cursor *cursor, uint32_t room)
{
    cursor->at = 0;
    cursor->count = cursor->left.count < room ? (uint32_t)cursor->left.count : room;
    size_t bytes = cursor->count * sizeof *cursor->buffer, got = 0;
    while (got < bytes) {
        ssize_t now = pread(fileno(values->file), (char *)cursor->buffer + got, bytes - got, (off_t)(cursor->left.first * sizeof *cursor->buffer + got));
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

/* Of a context, by location. */
static bool gather(const struct cube_values *values, uint32_t context, struct cursor *cursor, size_t cursors, uint32_t room, double *sums)
{
    size_t locations = values->cube->locations->count;
    memset(sums, 0, locations * sizeof *sums);
    for (size_t i = 0; i < cursors; i++) {
        struct cursor *from = &cursor[i];
        if (from->at == from->count && from->left.count && !fill(values, from, room))
            return false;
        if (from->at < from->count && from->buffer[from->at].context == context)
            sums[i % locations] += from->buffer[from->at++].value;
    }
    return true;
}

/* Where each location's values are that add up to a column's; how many. */
static size_t find_stretches(const struct cube_values *values, size_t column, struct cursor *cursor)
{
    const struct cube *cube = values->cube;
    size_t count = 0;
    for (size_t part = column; part < cube->columns; part++)
        for (size_t i = 0; i < cube->locations->count && is_part(cube, part, column) && !has_parts(cube, part); i++)
            cursor[count++].left = values->stretch[i * cube->columns + part];
    return count;
}

bool cube_values_put(const struct cube_values *values, FILE *out, size_t column)
{
    const struct cube *cube = values->cube;
    size_t locations = cube->locations->count;
    struct cursor *cursor = memory_array(locations * cube->columns, sizeof *cursor);
    size_t cursors = find_stretches(values, column, cursor), share = BUFFER_BYTES / sizeof(struct record) / cursors;
    uint32_t room = share > BUFFER_LEAST ? (uint32_t)share : BUFFER_LEAST;
    struct record *buffer = memory_array(cursors * room, sizeof *buffer);
    double *sums = memory_array(locations, sizeof *sums);
    for (size_t i = 0; i < cursors; i++)
        cursor[i].buffer = buffer + i * room;
    bool good = true;
    for (uint32_t context = 0; good && context < cube->contexts; context++) {
        if (!has(values, column, context))
            continue;
        good = gather(values, context, cursor, cursors, room, sums);
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
