#include <math.h>
#include <stdlib.h>

#include "compare/diff_view.h"
#include "report/rows/metric.h"

#define END_OF_LINE "\r\n"

static void put_number(FILE *out, double value)
{
    putc(',', out);
    format_csv_number(out, value);
}

static void put_change(FILE *out, const struct compare_change *change)
{
    put_number(out, change->before);
    put_number(out, change->after);
    put_number(out, change->after - change->before);
    putc(',', out);
    if (isfinite(change->percent))
        format_csv_number(out, change->percent);
    put_number(out, change->low);
    put_number(out, change->high);
    fprintf(out, ",%d", change->beyond_noise);
}

static void put_context(FILE *out, const struct comparison *comparison, uint32_t index, const uint32_t *id,
                        enum metric metric)
{
    const struct compare_context *context = &comparison->context[index];
    const char *found = !context->found[SIDE_BASE] ? "new" : !context->found[SIDE_NEW] ? "base" : "both";
    comparison_put_context(out, comparison, index, id);
    fprintf(out, ",%s,%s", found, metric_word[metric]);
    struct compare_change change = comparison_change(comparison, index, metric, true);
    put_change(out, &change);
    for (enum metric m = 0; m < METRIC_COLUMNS; m++)
        for (int inclusive = 1; inclusive >= 0; inclusive--) {
            change = comparison_change(comparison, index, m, inclusive);
            put_number(out, change.before);
            put_number(out, change.after);
        }
    fputs(END_OF_LINE, out);
}

static void put_wall(FILE *out, const struct comparison *comparison)
{
    struct compare_change change = comparison_wall_change(comparison);
    fprintf(out, "%zu,,0,wall,<wall time>,,,,both,wall", comparison->count);
    put_change(out, &change);
    for (int i = 0; i < 4 * METRIC_COLUMNS; i++)
        putc(',', out);
    fputs(END_OF_LINE, out);
}

void diff_csv(FILE *out, const struct comparison *comparison, enum metric metric)
{
    uint32_t *order = comparison_order(comparison, metric);
    uint32_t *id = comparison_places(comparison, order);
    fputs(COMPARE_CSV_CONTEXT ",found,metric,base,new,change,percent,low,high,beyond_noise", out);
    for (enum metric m = 0; m < METRIC_COLUMNS; m++)
        for (int inclusive = 1; inclusive >= 0; inclusive--)
            fprintf(out, ",%s base (%c),%s new (%c)", metric_title(m), inclusive ? 'I' : 'E', metric_title(m),
                    inclusive ? 'I' : 'E');
    fputs(END_OF_LINE, out);
    for (uint32_t i = 0; i < comparison->count; i++)
        put_context(out, comparison, order[i], id, metric);
    put_wall(out, comparison);
    free(id);
    free(order);
}
