#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/profile/pair_map.h"
#include "export/export.h"
#include "export/frames.h"
#include "report/rows/metric.h"
#include "report/text/format.h"
#include "report/text/json_text.h"
#include "report/text/memory.h"

#define NAME_COLUMNS    48 /* what is longer loses its middle; tooltips have all of it */
#define COMMAND_COLUMNS 100
#define CALLS_LEAST     0.1 /* a call's least share, of a function's least share */
/* More than these, the largest, nobody can read, nor dot lay out in a minute. */
#define MOST_NODES 100
#define MOST_EDGES 200
#define HEAT_STEPS 9

/* After ColorBrewer's YlOrRd, which colour-blind readers can tell; white text from DARK_FROM on. */
static const char *const heat[HEAT_STEPS] = {"#fffff0", "#ffeda0", "#fed976", "#feb24c", "#fd8d3c",
                                             "#fc4e2a", "#e31a1c", "#bd0026", "#800026"};
#define DARK_FROM 6

/* A function, or a call from one function to another. */
struct part {
    double exclusive, inclusive;
    bool shown;
    uint32_t end;      /* behind the last subtree that was added to inclusive */
    uint32_t from, to; /* of calls */
};

struct graph {
    const struct rows *rows;
    enum metric metric;
    struct frames frames;
    struct part *node, *edge;
    size_t edge_count, edge_room;
    double total, hottest;
};

/* A row inside a row of the same part is in its inclusive value already. */
static void add_row(struct part *part, const struct rows *rows, uint32_t index, enum metric metric)
{
    if (index < part->end)
        return;
    part->end = rows->row[index].end;
    part->inclusive += metric_value(rows, rows->row[index].inclusive, metric);
}

static struct part *find_edge(struct graph *graph, struct pair_map *map, uint32_t from, uint32_t to)
{
    uint32_t *slot = pair_map_slot(map, from, to);
    if (*slot == PAIR_MAP_NEW) {
        memory_grow(&graph->edge, &graph->edge_room, graph->edge_count, sizeof *graph->edge);
        graph->edge[graph->edge_count] = (struct part){.from = from, .to = to};
        *slot = (uint32_t)graph->edge_count++;
    }
    return &graph->edge[*slot];
}

static void gather(struct graph *graph)
{
    const struct rows *rows = graph->rows;
    struct pair_map map = {0};
    frames_gather(&graph->frames, rows);
    graph->node = memory_array(graph->frames.count, sizeof *graph->node);
    for (uint32_t i = 0; i < rows->count; i++) {
        const struct row *row = &rows->row[i];
        if (row->kind == ROW_STATEMENT)
            continue;
        uint32_t frame = graph->frames.of_row[i];
        graph->node[frame].exclusive += metric_value(rows, row->exclusive, graph->metric);
        add_row(&graph->node[frame], rows, i, graph->metric);
        if (row->depth >= 2) /* the root is the program: it calls nobody */
            add_row(find_edge(graph, &map, graph->frames.of_row[row->parent], frame), rows, i, graph->metric);
    }
    pair_map_free(&map);
    graph->node[0].inclusive = graph->node[0].exclusive;
    for (size_t i = 0; i < graph->frames.count; i++)
        graph->hottest = fmax(graph->hottest, graph->node[i].exclusive);
}

/* Text inside a quoted string of DOT, where backslashes begin escapes and & begins entities. */
static void put_text(FILE *out, const char *text)
{
    for (; *text; text++)
        if (*text == '"' || *text == '\\')
            fprintf(out, "\\%c", *text);
        else if (*text == '&')
            fputs("&amp;", out);
        else
            putc(*text, out);
}

static void put_shortened(FILE *out, const char *text, size_t columns)
{
    char *fitting = format_fit(text, columns, true);
    put_text(out, fitting);
    free(fitting);
}

/* Events are whole, but for the idleness that each of them is blamed for. */
static void put_quantity(FILE *out, double value, const struct graph *graph)
{
    bool seconds = export_in_ns(graph->rows, graph->metric);
    fprintf(out, "%s%s", DECIMAL(value, seconds ? 3 : 0), seconds ? " s" : "");
}

static void put_share(FILE *out, const struct graph *graph, double value)
{
    put_quantity(out, value, graph);
    fprintf(out, " (%s %%)", DECIMAL(100 * value / graph->total, 1));
}

/* Constructs have their place in their name. */
static void put_place(FILE *out, const struct row_label *label)
{
    const char *file = format_base_name(label->file);
    char place[512];
    if (!*label->file && !*label->module)
        return;
    if (!*label->file || label->line <= 0)
        snprintf(place, sizeof place, "%s", *label->file ? file : label->module);
    else
        snprintf(place, sizeof place, "%.480s:%d", file, label->line);
    if (strstr(label->name, place))
        return;
    fputs("\\n", out);
    put_shortened(out, place, NAME_COLUMNS);
}

static void put_node(FILE *out, const struct graph *graph, uint32_t frame)
{
    const struct part *node = &graph->node[frame];
    const struct row_label *label = graph->frames.label[frame];
    double share = graph->hottest > 0 ? fmax(node->exclusive, 0) / graph->hottest : 0;
    int step = (int)(share * (HEAT_STEPS - 1) + 0.5);
    fprintf(out, "n%u [label=\"", frame);
    put_shortened(out, label->name, NAME_COLUMNS);
    put_place(out, label);
    fputs("\\n", out);
    if (node->exclusive != 0)
        put_share(out, graph, node->exclusive);
    else
        fputs("0", out);
    if (node->inclusive != node->exclusive) {
        fputs(node->exclusive != 0 ? "\\nof " : " of ", out);
        put_share(out, graph, node->inclusive);
    }
    fputs("\", tooltip=\"", out);
    put_shortened(out, label->name, SIZE_MAX);
    fprintf(out, "\", fontsize=%d, fillcolor=\"%s\"%s];\n", 10 + (int)(14 * sqrt(share)), heat[step],
            step >= DARK_FROM ? ", fontcolor=\"white\"" : "");
}

static void put_edge(FILE *out, const struct graph *graph, const struct part *edge)
{
    double share = fmax(0, fmin(edge->inclusive / graph->total, 1));
    fprintf(out, "n%u -> n%u [label=\" ", edge->from, edge->to);
    put_quantity(out, edge->inclusive, graph);
    fputs("\", tooltip=\"", out);
    put_shortened(out, graph->frames.label[edge->from]->name, SIZE_MAX);
    fputs(" calls ", out);
    put_shortened(out, graph->frames.label[edge->to]->name, SIZE_MAX);
    fprintf(out, "\", penwidth=%s, weight=%d];\n", DECIMAL(0.5 + 5 * share, 2), 1 + (int)(99 * share));
}

static void put_header(FILE *out, const struct graph *graph, const struct profile *profile,
                       double least_percent, size_t shown)
{
    const char *command = profile_text(profile, "command");
    const char *sample = graph->rows->events ? profile_text(profile, "sample") : NULL;
    fputs(
        "digraph blame {\ngraph [labelloc=t, labeljust=l, fontname=\"Helvetica,Arial,sans-serif\", label=\"",
        out);
    put_shortened(out, command && *command ? command : "(command unknown)", COMMAND_COLUMNS);
    fprintf(out, "\\l%s ", metric_title(graph->metric));
    put_quantity(out, graph->total, graph);
    if (sample && graph->metric != METRIC_SAMPLES) {
        fputs(" events (", out);
        char *event = memory_check(strndup(sample, strcspn(sample, "@")));
        put_shortened(out, event, NAME_COLUMNS);
        free(event);
        putc(')', out);
    }
    fprintf(out, "; %zu of %zu functions, %s", shown, graph->frames.count - 1,
            shown == MOST_NODES ? "the largest of those with " : "those with ");
    json_decimal(out, least_percent, 6);
    fputs(" % or more\\l\"];\n", out);
    fputs("node [shape=box, style=\"filled,rounded\", color=\"#808080\", "
          "fontname=\"Helvetica,Arial,sans-serif\"];\n"
          "edge [fontsize=10, color=\"#606060\", fontname=\"Helvetica,Arial,sans-serif\"];\n",
          out);
}

static int larger_first(const void *left, const void *right)
{
    const struct part *a = *(const struct part *const *)left, *b = *(const struct part *const *)right;
    int difference = (a->inclusive < b->inclusive) - (a->inclusive > b->inclusive);
    return difference ? difference : (a > b) - (a < b);
}

/* Of the parts that are shown, leaves the largest so; how many. */
static size_t keep_largest(struct part *parts, size_t count, size_t most)
{
    struct part **order = memory_array(count, sizeof *order);
    size_t shown = 0;
    for (size_t i = 0; i < count; i++)
        if (parts[i].shown)
            order[shown++] = &parts[i];
    qsort(order, shown, sizeof *order, larger_first);
    for (size_t i = most; i < shown; i++)
        order[i]->shown = false;
    free(order);
    return shown < most ? shown : most;
}

/* Chooses what is shown; the number of functions. */
static size_t choose(struct graph *graph, double least_percent)
{
    double least = 0.01 * least_percent * graph->total;
    for (uint32_t i = 0; i < graph->frames.count; i++)
        graph->node[i].shown = graph->node[i].inclusive > 0 && graph->node[i].inclusive >= least;
    size_t nodes = keep_largest(graph->node, graph->frames.count, MOST_NODES);
    for (size_t i = 0; i < graph->edge_count; i++) {
        struct part *edge = &graph->edge[i];
        edge->shown = edge->inclusive > 0 && edge->inclusive >= CALLS_LEAST * least &&
                      graph->node[edge->from].shown && graph->node[edge->to].shown;
    }
    keep_largest(graph->edge, graph->edge_count, MOST_EDGES);
    return nodes;
}

static void put_graph(FILE *out, struct graph *graph, const struct profile *profile, double least_percent)
{
    put_header(out, graph, profile, least_percent, choose(graph, least_percent));
    for (uint32_t i = 0; i < graph->frames.count; i++)
        if (graph->node[i].shown)
            put_node(out, graph, i);
    for (size_t i = 0; i < graph->edge_count; i++)
        if (graph->edge[i].shown)
            put_edge(out, graph, &graph->edge[i]);
    fputs("}\n", out);
}

void export_dot(FILE *out, const struct profile *profile, const struct rows *rows, enum metric metric,
                double least_percent)
{
    struct graph graph = {.rows = rows, .metric = metric};
    graph.total = metric_value(rows, rows->row[0].inclusive, metric);
    gather(&graph);
    put_graph(out, &graph, profile, least_percent);
    frames_free(&graph.frames);
    free(graph.node);
    free(graph.edge);
}
