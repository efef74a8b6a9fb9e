/* Cube 4's container: an uncompressed ustar archive with anchor.xml, and for each metric the contexts that have it (N.index) and their values
 * (N.data). The format's description: docs/cube_file_format.md of github.com/extra-p/pycubexr. */
#include "export/cube.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "export/export.h"
#include "report/text/memory.h"

#define BLOCK       512
#define OCTAL_MOST  077777777777 /* a file's size in ustar; where there are more, tar programs know eight bytes instead */
#define CUBE_SPARSE 1            /* an index lists its contexts */

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

static void put_anchor(FILE *out, const struct cube *cube)
{
    char *text;
    FILE *anchor = memory_stream(&text);
    cube_put_anchor(anchor, cube);
    memory_stream_close(anchor);
    size_t size = strlen(text);
    put_header(out, "anchor.xml", size);
    fwrite(text, 1, size, out);
    put_padding(out, size);
    free(text);
}

static bool put_column(FILE *out, const struct cube *cube, const struct cube_values *values, size_t column)
{
    struct __attribute__((packed)) {
        char marker[11];
        uint32_t one; /* of this byte order */
        uint16_t version;
        uint8_t type;
        uint32_t count;
    } head = {.marker = "CUBEX.INDEX", .one = 1, .type = CUBE_SPARSE, .count = cube_values_contexts(values, column)};
    static const char data_marker[10] = "CUBEX.DATA";
    char name[32];
    uint64_t index_size = sizeof head + head.count * sizeof(uint32_t);
    uint64_t data_size = sizeof data_marker + (uint64_t)head.count * cube->locations->count * sizeof(uint64_t);
    snprintf(name, sizeof name, "%zu.index", column);
    put_header(out, name, index_size);
    fwrite(&head, sizeof head, 1, out);
    cube_values_put_index(values, out, column);
    put_padding(out, index_size);
    snprintf(name, sizeof name, "%zu.data", column);
    put_header(out, name, data_size);
    fwrite(data_marker, sizeof data_marker, 1, out);
    bool good = cube_values_put(values, out, column);
    put_padding(out, data_size);
    return good && !ferror(out);
}

static void order_locations(struct cube *cube)
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

static void number_contexts(struct cube *cube)
{
    const struct rows *rows = cube->locations->rows;
    cube->context = memory_array(rows->count, sizeof *cube->context);
    for (size_t i = 0; i < rows->count; i++)
        if (rows->row[i].kind != ROW_STATEMENT)
            cube->context[i] = cube->contexts++;
}

bool export_cube(FILE *out, struct locations *locations)
{
    static const char end[2 * BLOCK];
    struct cube cube = {.locations = locations};
    measures_gather(&cube.measures, locations->rows);
    cube.columns = measures_own(&cube.measures);
    order_locations(&cube);
    number_contexts(&cube);
    struct cube_values *values = cube_values_read(&cube);
    bool good = values;
    if (good)
        put_anchor(out, &cube);
    for (size_t i = 0; good && i < cube.columns; i++)
        good = put_column(out, &cube, values, i);
    good = good && fwrite(end, sizeof end, 1, out) == 1;
    int why = errno;
    cube_values_free(values);
    measures_free(&cube.measures);
    free(cube.order);
    free(cube.context);
    errno = why;
    return good;
}
