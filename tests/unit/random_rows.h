/* Random row trees with recursion, and naive sums of them to hold views against. */
#ifndef BLAME_TESTS_UNIT_RANDOM_ROWS_H
#define BLAME_TESTS_UNIT_RANDOM_ROWS_H

#include "command/rows/make.h"
#include "command/text/strings.h"
#include "command/export/export.h"
#include "tests/unit/unit.h"

#define FUNCTIONS 7
#define S         1e9

static uint64_t seed;

/* Calls of few functions by few lines: much of it is recursion. Those of `b.so` have no source file. */
static const struct row_label functions[FUNCTIONS] = {{"f0", "a.so", "/s/x.c", 10},
                                                      {"f1", "a.so", "/s/x.c", 20},
                                                      {"f2", "a.so", "/s/y.c", 30},
                                                      {"f3", "b.so", "", 0},
                                                      {"p4 [parallel]", "a.so", "/s/x.c", 5},
                                                      {"__kmpc_barrier", "b.so", "", 0},
                                                      {"f6", "", "", 0}};
static const uint8_t kinds[FUNCTIONS] = {ROW_PROCEDURE, ROW_PROCEDURE, ROW_INLINED,  ROW_PROCEDURE,
                                         ROW_PARALLEL,  ROW_RUNTIME,   ROW_PROCEDURE};
static const struct row_label lines[2][4] = {
    {{"x.c:0", "a.so", "/s/x.c", 1}, {"x.c:2", "a.so", "/s/x.c", 2}, {"x.c:3", "a.so", "/s/x.c", 3}},
    {{"y.c:0", "a.so", "/s/y.c", 1}, {"y.c:2", "a.so", "/s/y.c", 2}, {"y.c:3", "a.so", "/s/y.c", 3}}};

static unsigned pick(unsigned below)
{
    return (unsigned)(unit_random(&seed) >> 33) % below;
}

static bool has_child(const struct rows *rows, uint32_t parent, uint32_t function, int line)
{
    for (size_t i = 1; i < rows->count; i++)
        if (rows->row[i].parent == parent && rows->row[i].function == function && rows->row[i].call_line == line)
            return true;
    return false;
}

static void add_cost(struct rows *rows, uint32_t row)
{
    struct profile_sums *sums = rows_alloc(rows, sizeof *sums);
    sums->samples = 1;
    sums->work = (1 + pick(9)) * S;
    sums->inverse_busy = sums->work;
    rows_add_exclusive(rows, &rows->row[row], sums);
}

static void add_line_costs(struct rows *rows, uint32_t function)
{
    bool y = strcmp(rows->row[function].label->file, "/s/y.c") == 0;
    for (int line = 0; line < 3; line++) {
        if (pick(3))
            continue;
        uint32_t row = rows_append(rows, function, ROW_STATEMENT);
        rows->row[row].label = &lines[y][line];
        rows->row[row].function = strings_intern(rows->strings, y ? "/s/y.c" : "/s/x.c");
        add_cost(rows, row);
    }
}

static struct rows *random_rows(size_t count)
{
    struct rows *rows = calloc(1, sizeof *rows);
    rows->threads = rows->cores = 2;
    rows->strings = strings_new();
    assert_int_equal(rows_append(rows, ROW_NONE, ROW_ROOT), 0);
    for (size_t i = 1; i < count; i++) {
        uint32_t parent = pick((unsigned)rows->count), function = pick(FUNCTIONS);
        int line = (int)pick(3);
        if (rows->row[parent].kind == ROW_STATEMENT || has_child(rows, parent, function, line))
            continue;
        uint32_t row = rows_append(rows, parent, kinds[function]);
        rows->row[row].function = function;
        rows->row[row].label = &functions[function];
        rows->row[row].call_line = line;
        if (*functions[function].file)
            add_line_costs(rows, row);
        else if (pick(2))
            add_cost(rows, row);
    }
    rows_sum(rows);
    rows_order(rows, METRIC_EFFORT, false);
    return rows;
}

static double own(const struct rows *rows, uint32_t row)
{
    return rows->row[row].exclusive->work;
}

static bool is_code(const struct rows *rows, uint32_t row)
{
    return row && rows->row[row].kind != ROW_STATEMENT;
}

static bool is_inside(const struct rows *rows, uint32_t inner, uint32_t outer)
{
    for (uint32_t at = rows->row[inner].parent; at != ROW_NONE; at = rows->row[at].parent)
        if (at == outer)
            return true;
    return false;
}

/* Of marked instances: what their own code cost, and what they cost with all they called, each row of the
 * tree counted once. */
struct naive_sum {
    double exclusive, inclusive;
};

__attribute__((unused)) static struct naive_sum naive_sum(const struct rows *rows, const bool *marked)
{
    struct naive_sum sum = {0};
    for (uint32_t i = 0; i < rows->count; i++) {
        bool below = marked[i];
        if (rows->row[i].kind == ROW_STATEMENT)
            continue;
        for (uint32_t j = 0; j < rows->count && !below; j++)
            below = marked[j] && is_inside(rows, i, j);
        sum.exclusive += marked[i] ? own(rows, i) : 0;
        sum.inclusive += below ? own(rows, i) : 0;
    }
    return sum;
}

static double total_of(const struct rows *rows)
{
    return rows->row[0].inclusive->work;
}

/* The sum over folded stacks, in nanoseconds. */
__attribute__((unused)) static double folded_total(const struct rows *rows)
{
    char *text = NULL;
    size_t size = 0;
    double total = 0;
    FILE *out = open_memstream(&text, &size);
    export_folded(out, rows, METRIC_WORK);
    fclose(out);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        total += atof(strrchr(line, ' ')) * 1000;
    free(text);
    return total;
}

#endif
