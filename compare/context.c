/* Contexts as text, and in the order of their change. */
#include "compare/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/text/format.h"
#include "report/text/memory.h"

#define NAME_COLUMNS       48 /* a name is shortened to this on a wide terminal */
#define LEAST_NAME_COLUMNS 16 /* of a long caller's name, before it is left out */

/* Appends printable text, at most `columns` of it; returns the columns used. */
static size_t append(char *to, size_t room, const char *text, size_t columns, bool utf8)
{
    char *clean = format_clean(text, true);
    size_t length = strlen(to);
    format_shorten(to + length, room - length, clean, columns, utf8);
    free(clean);
    return format_columns(to + length);
}

/* A function's name without its parameters, which callers' names have no room for; malloc'ed. */
static char *short_name(const struct compare_context *context)
{
    char *name = memory_text("%s", context->label.name);
    bool function = context->kind == ROW_PROCEDURE || context->kind == ROW_INLINED;
    size_t length = strlen(name);
    if (length > 6 && strcmp(name + length - 6, " const") == 0)
        length -= 6;
    if (!function || !length || name[length - 1] != ')')
        return name;
    size_t open = length, depth = 0;
    while (open-- > 0) {
        depth += name[open] == ')';
        depth -= name[open] == '(';
        if (!depth)
            break;
    }
    bool whole =
        depth || !open || open == SIZE_MAX || (open >= 8 && strncmp(name + open - 8, "operator", 8) == 0);
    if (!whole)
        name[open] = '\0';
    return name;
}

/* Callers as far as they fit; the last one shortened. */
static void append_callers(const struct comparison *comparison, uint32_t index, char *label, size_t room,
                           size_t columns, bool utf8)
{
    size_t used = format_columns(label);
    bool first = true;
    for (uint32_t i = comparison->context[index].parent; i != ROW_NONE && i != 0;
         i = comparison->context[i].parent, first = false) {
        const char *arrow = first ? "  < " : " < ";
        bool outermost = comparison->context[i].parent == 0;
        size_t left = columns > used + strlen(arrow) ? columns - used - strlen(arrow) : 0;
        char *name = short_name(&comparison->context[i]);
        size_t width = format_columns(name);
        size_t most = outermost ? left : left > 6 ? left - 6 : 0;
        most = most < NAME_COLUMNS ? most : NAME_COLUMNS;
        bool fits = width <= most || most >= LEAST_NAME_COLUMNS;
        if (fits || left >= 3) {
            used += append(label, room, arrow, strlen(arrow), utf8);
            used += append(label, room, fits ? name : "...", fits ? most : 3, utf8);
        }
        free(name);
        if (!fits)
            return;
    }
}

char *comparison_label(const struct comparison *comparison, uint32_t index, size_t columns, bool utf8)
{
    const struct compare_context *context = &comparison->context[index];
    bool construct = context->kind == ROW_PARALLEL || context->kind == ROW_TASK;
    size_t room = 4 * columns + 64, used;
    char *label = memory_array(room, 1), *name = short_name(context), position[300] = "";
    if (!construct && *context->label.file && context->label.line > 0)
        snprintf(position, sizeof position, "  %.200s:%d", format_base_name(context->label.file),
                 context->label.line);
    used = append(label, room, name, columns > 2 * NAME_COLUMNS ? NAME_COLUMNS : columns * 6 / 10, utf8);
    append(label, room, position, columns - used, utf8);
    append_callers(comparison, index, label, room, columns, utf8);
    free(name);
    return label;
}

struct place_in_order {
    uint32_t context, parent;
    double change;
};

static int compare_places(const void *left, const void *right)
{
    const struct place_in_order *a = left, *b = right;
    if (a->parent != b->parent)
        return a->parent < b->parent ? -1 : 1;
    if (a->change != b->change)
        return a->change > b->change ? -1 : 1;
    return a->context < b->context ? -1 : a->context > b->context;
}

/* Children of a context are a stretch of place[], which is sorted by parents; first[] says where it begins. */
static void descend(const struct place_in_order *place, size_t count, const uint32_t *first, uint32_t *stack,
                    uint32_t *order)
{
    size_t depth = 0, out = 0;
    stack[depth++] = 0;
    while (depth) {
        uint32_t context = stack[--depth];
        size_t end = first[context];
        order[out++] = context;
        while (end < count && place[end].parent == context)
            end++;
        while (end-- > first[context])
            stack[depth++] = place[end].context;
    }
}

uint32_t *comparison_order(const struct comparison *comparison, enum metric metric)
{
    size_t count = comparison->count, places = count ? count - 1 : 0;
    struct place_in_order *place = memory_array(count, sizeof *place);
    uint32_t *first = memory_array(count, sizeof *first), *stack = memory_array(count, sizeof *stack);
    uint32_t *order = memory_array(count, sizeof *order);
    for (uint32_t i = 1; i < count; i++) {
        struct compare_change change = comparison_change(comparison, i, metric, true);
        place[i - 1] =
            (struct place_in_order){i, comparison->context[i].parent, fabs(change.after - change.before)};
    }
    qsort(place, places, sizeof *place, compare_places);
    for (uint32_t i = 0; i < count; i++)
        first[i] = (uint32_t)places;
    for (size_t i = places; i-- > 0;)
        first[place[i].parent] = (uint32_t)i;
    if (count)
        descend(place, places, first, stack, order);
    free(place);
    free(first);
    free(stack);
    return order;
}

uint32_t *comparison_places(const struct comparison *comparison, const uint32_t *order)
{
    uint32_t *place = memory_array(comparison->count, sizeof *place);
    for (uint32_t i = 0; i < comparison->count; i++)
        place[order[i]] = i;
    return place;
}

void comparison_put_context(FILE *out, const struct comparison *comparison, uint32_t index,
                            const uint32_t *id)
{
    const struct compare_context *context = &comparison->context[index];
    fprintf(out, "%u,", id[index]);
    if (context->parent != ROW_NONE)
        fprintf(out, "%u", id[context->parent]);
    fprintf(out, ",%u,%s,", context->depth, row_kind_name[context->kind]);
    format_csv_text(out, context->label.name);
    putc(',', out);
    format_csv_text(out, context->label.module);
    putc(',', out);
    format_csv_text(out, context->label.file);
    putc(',', out);
    if (context->label.line > 0)
        fprintf(out, "%d", context->label.line);
}
