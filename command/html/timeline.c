/* Writes the timeline into the page. In time bins, it shows the states of each lane (a thread or a group of
 * threads), the contexts in which each lane spent its time, and the time and blame of each context. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command/html/page.h"
#include "command/text/memory.h"

#define ALL           255 /* the number that is written for a share of 100 % */
#define LEAST_SAMPLES 4   /* minimum number of samples that a thread takes during a bin of its lane */
/* maximum number of contexts listed for one bin of a lane; the contexts with the most time are listed */
#define TOPS   4
#define OTHERS UINT16_MAX

enum value { OWN, IDLENESS, LOCK_WAIT, VALUES };

static const char *const state_title[PROFILE_TIME_STATES] = {
    [PROFILE_TIME_WORK] = "work",           [PROFILE_TIME_OVERHEAD] = "overhead", [PROFILE_TIME_IDLE] = "idleness",
    [PROFILE_TIME_LOCK_WAIT] = "lock wait", [PROFILE_TIME_MPI_WAIT] = "mpi wait", [PROFILE_TIME_NO_CORE] = "no core",
    [PROFILE_TIME_BLOCKED] = "blocked",     [PROFILE_TIME_STOPPED] = "stopped"};

/* A row of the page with time bins of its own. */
struct context {
    uint32_t row;
    uint32_t first, end; /* first bin with a value, and the bin after the last one with a value */
    double weight;
    float (*bin)[VALUES];
};

struct contexts {
    const struct timeline *timeline;
    struct context *context; /* contexts, sorted by row */
    size_t count;
    /* for each row of the page, the index in `context` of the context that contains the row's time */
    uint32_t *of_row;
    float (*values)[VALUES];
};

/* The time that a lane spent in one context during one bin. */
struct part {
    uint32_t context;
    float own;
};

/* Returns the row of the page that contains the node's time. If that row was merged, returns its nearest
 * ancestor that is shown. */
static uint32_t page_row_of(const struct page *page, uint32_t node)
{
    uint32_t row = page_tree_nearest(&page->tree, row_of_node(page->input->rows, node));
    return row == ROW_NONE ? 0 : row;
}

static float page_timeline_idleness(const struct rows *rows, const struct profile_time_value *value)
{
    return rows->shared ? value->shared_idle
                        : (float)rows->threads * value->inverse_busy - value->own - value->lock_wait;
}

static void page_timeline_values_of(const struct rows *rows, const struct profile_time_value *value, float to[VALUES])
{
    to[OWN] = value->own;
    to[IDLENESS] = page_timeline_idleness(rows, value);
    to[LOCK_WAIT] = value->lock_wait;
}

static int page_timeline_compare_weights(const void *left, const void *right)
{
    const struct context *a = left, *b = right;
    return a->weight != b->weight ? (a->weight < b->weight ? 1 : -1) : (a->row > b->row) - (a->row < b->row);
}

static int page_timeline_compare_rows(const void *left, const void *right)
{
    const struct context *a = left, *b = right;
    return (a->row > b->row) - (a->row < b->row);
}

/* Selects the rows with bins of their own: the root and the rows with the most time. The time of any other
 * row is added to its nearest ancestor with bins. */
static void page_timeline_choose_contexts(struct page *page, struct contexts *contexts)
{
    const struct timeline *timeline = contexts->timeline;
    const size_t rows = page->rows->count;
    double *weight = memory_array(rows, sizeof *weight);
    for (size_t i = 0; i < timeline->cell_count; i++) {
        float value[VALUES];
        page_timeline_values_of(page->input->rows, &timeline->cells[i].value, value);
        weight[page_row_of(page, timeline->cells[i].node)] +=
            fabs(value[OWN]) + fabs(value[IDLENESS]) + fabs(value[LOCK_WAIT]);
    }
    weight[0] = INFINITY;
    contexts->context = memory_array(rows, sizeof *contexts->context);
    for (uint32_t row = 0; row < rows; row++)
        if (weight[row] > 0)
            contexts->context[contexts->count++] = (struct context){.row = row, .weight = weight[row]};
    free(weight);
    qsort(contexts->context, contexts->count, sizeof *contexts->context, page_timeline_compare_weights);
    if (contexts->count > HTML_TIME_ROWS)
        contexts->count = HTML_TIME_ROWS;
    qsort(contexts->context, contexts->count, sizeof *contexts->context, page_timeline_compare_rows);
    contexts->of_row = memory_array(rows, sizeof *contexts->of_row);
    memset(contexts->of_row, 0xff, rows * sizeof *contexts->of_row);
    for (uint32_t i = 0; i < contexts->count; i++)
        contexts->of_row[contexts->context[i].row] = i;
    /* a parent has a smaller number than its children, so its context is already known */
    for (uint32_t row = 1; row < rows; row++)
        if (contexts->of_row[row] == ROW_NONE)
            contexts->of_row[row] = contexts->of_row[page->rows->row[row].parent];
}

static uint32_t page_timeline_context_of(const struct page *page, const struct contexts *contexts,
                                         const struct timeline_cell *cell)
{
    return contexts->of_row[page_row_of(page, cell->node)];
}

static void page_timeline_add_cells(const struct page *page, struct contexts *contexts)
{
    const struct timeline *timeline = contexts->timeline;
    contexts->values = memory_array(contexts->count * timeline->bins, sizeof *contexts->values);
    for (size_t i = 0; i < contexts->count; i++) {
        contexts->context[i].bin = contexts->values + i * timeline->bins;
        contexts->context[i].first = timeline->bins;
    }
    for (size_t i = 0; i < timeline->cell_count; i++) {
        const struct timeline_cell *cell = &timeline->cells[i];
        struct context *context = &contexts->context[page_timeline_context_of(page, contexts, cell)];
        float value[VALUES];
        page_timeline_values_of(page->input->rows, &cell->value, value);
        for (int v = 0; v < VALUES; v++)
            context->bin[cell->bin][v] += value[v];
        context->first = cell->bin < context->first ? cell->bin : context->first;
        context->end = cell->bin >= context->end ? cell->bin + 1 : context->end;
    }
    for (size_t i = 0; i < contexts->count; i++)
        if (!contexts->context[i].end)
            contexts->context[i].first = 0;
}

static void page_timeline_put_context_numbers(struct page *page, const char *name, const struct contexts *contexts,
                                              size_t field)
{
    fprintf(page->out, "\"%s\":", name);
    for (size_t i = 0; i < contexts->count; i++) {
        putc_unlocked(i ? ',' : '[', page->out);
        page_whole(page->out, *(const uint32_t *)((const char *)&contexts->context[i] + field));
    }
    fputs("],\n", page->out);
}

/* Writes the value of each context in its bins from `first` to `end`, as floats in microseconds. */
static void page_timeline_put_values(struct page *page, const struct contexts *contexts, enum value value)
{
    struct base64 to = {.out = page->out};
    putc_unlocked('"', page->out);
    for (size_t i = 0; i < contexts->count; i++)
        for (uint32_t bin = contexts->context[i].first; bin < contexts->context[i].end; bin++) {
            float us = (float)(contexts->context[i].bin[bin][value] / 1000.0);
            uint32_t bits;
            memcpy(&bits, &us, sizeof bits);
            for (int byte = 0; byte < 4; byte++)
                page_base64_put(&to, (uint8_t)(bits >> 8 * byte));
        }
    page_base64_end(&to);
    putc_unlocked('"', page->out);
}

static bool page_timeline_has_value(const struct contexts *contexts, enum value value)
{
    for (size_t i = 0; i < contexts->count * contexts->timeline->bins; i++)
        if (contexts->values[i][value] != 0)
            return true;
    return false;
}

static void page_timeline_put_contexts(struct page *page, const struct contexts *contexts)
{
    static const char *const name[VALUES] = {"own", "idleness", "lock wait"};
    fputs(",\n\"contexts\":{", page->out);
    page_timeline_put_context_numbers(page, "row", contexts, offsetof(struct context, row));
    page_timeline_put_context_numbers(page, "first", contexts, offsetof(struct context, first));
    page_timeline_put_context_numbers(page, "end", contexts, offsetof(struct context, end));
    for (int value = 0; value < VALUES; value++) {
        fprintf(page->out, "%s\"%s\":", value ? ",\n" : "", name[value]);
        if (page_timeline_has_value(contexts, (enum value)value))
            page_timeline_put_values(page, contexts, (enum value)value);
        else
            putc_unlocked('0', page->out);
    }
    putc_unlocked('}', page->out);
}

static int page_timeline_compare_contexts(const void *left, const void *right)
{
    const struct part *a = left, *b = right;
    return (a->context > b->context) - (a->context < b->context);
}

static int page_timeline_compare_own(const void *left, const void *right)
{
    const struct part *a = left, *b = right;
    return (a->own < b->own) - (a->own > b->own);
}

static size_t page_timeline_merge_parts(struct part *part, size_t count)
{
    size_t merged = 0;
    qsort(part, count, sizeof *part, page_timeline_compare_contexts);
    for (size_t i = 0; i < count; i++)
        if (merged && part[merged - 1].context == part[i].context)
            part[merged - 1].own += part[i].own;
        else
            part[merged++] = part[i];
    qsort(part, merged, sizeof *part, page_timeline_compare_own);
    return merged;
}

static uint8_t page_timeline_share_code(double ns, double whole_ns)
{
    double share = whole_ns > 0 ? ALL * ns / whole_ns : 0;
    return share >= ALL ? ALL : share > 0 ? (uint8_t)lround(share) : 0;
}

/* Writes the number of listed contexts, then the number and the share of each. All unlisted contexts together
 * count as one context with the number OTHERS. */
static void page_timeline_put_parts(struct base64 *to, const struct part *part, size_t count, double whole_ns)
{
    size_t named = 0;
    double others_ns = 0;
    for (size_t i = 0; i < count; i++)
        if (named == i && i < TOPS && page_timeline_share_code(part[i].own, whole_ns))
            named++;
        else
            others_ns += part[i].own;
    uint8_t others = page_timeline_share_code(others_ns, whole_ns);
    page_base64_put(to, (uint8_t)(named + (others > 0)));
    for (size_t i = 0; i < named + (others > 0); i++) {
        uint32_t context = i < named ? part[i].context : OTHERS;
        page_base64_put(to, (uint8_t)context);
        page_base64_put(to, (uint8_t)(context >> 8));
        page_base64_put(to, i < named ? page_timeline_share_code(part[i].own, whole_ns) : others);
    }
}

/* Returns the part of a bin in ns during which the program ran. Only the bin in which the program ended is
 * shorter than bin_ns. */
static double page_timeline_bin_width_ns(const struct page *page, const struct timeline *timeline, uint32_t bin,
                                         uint64_t bin_ns)
{
    const struct profile_header *header = &page->input->profile->header;
    double begin = (double)bin * (double)bin_ns,
           end = header->end_ns > timeline->origin_ns ? (double)(header->end_ns - timeline->origin_ns) : 0;
    return end > begin && end < begin + (double)bin_ns ? end - begin : (double)bin_ns;
}

/* Writes the contexts in which each lane spent its time, for each bin. A lane whose cells are counted in
 * another lane has none. */
static void page_timeline_put_tops(struct page *page, const struct contexts *contexts)
{
    const struct timeline *timeline = contexts->timeline;
    const size_t places = timeline->lane_count * timeline->bins;
    size_t *end = memory_array(places + 1, sizeof *end);
    struct part *part = memory_array(timeline->cell_count, sizeof *part);
    for (size_t i = 0; i < timeline->cell_count; i++)
        end[(size_t)timeline->cells[i].lane * timeline->bins + timeline->cells[i].bin + 1]++;
    for (size_t i = 0; i < places; i++)
        end[i + 1] += end[i];
    /* At first, end[place] is the index of the place's first part. The loop increments it for each part, so
     * in the end it is the index after the place's last part. */
    for (size_t i = 0; i < timeline->cell_count; i++) {
        const struct timeline_cell *cell = &timeline->cells[i];
        part[end[(size_t)cell->lane * timeline->bins + cell->bin]++] =
            (struct part){page_timeline_context_of(page, contexts, cell), cell->value.own};
    }
    double *threads = memory_array(timeline->lane_count, sizeof *threads);
    for (size_t lane = 0; lane < timeline->lane_count; lane++)
        threads[timeline->lanes[lane].cell_lane] += timeline->lanes[lane].threads;
    struct base64 to = {.out = page->out};
    fputs(",\n\"tops\":\"", page->out);
    for (size_t place = 0; place < places; place++) {
        size_t first = place ? end[place - 1] : 0;
        size_t count = page_timeline_merge_parts(part + first, end[place] - first);
        page_timeline_put_parts(
            &to, part + first, count,
            threads[place / timeline->bins] *
                page_timeline_bin_width_ns(page, timeline, (uint32_t)(place % timeline->bins), timeline->bin_ns));
    }
    page_base64_end(&to);
    putc_unlocked('"', page->out);
    free(threads);
    free(part);
    free(end);
}

/* The lanes' bins in the page. A bin of the page combines several bins of the timeline, so that a thread
 * takes at least LEAST_SAMPLES samples in it. */
struct lane_bins {
    const struct timeline *timeline;
    uint32_t each, count;
};

static struct lane_bins page_timeline_lane_bins(const struct page *page, const struct timeline *timeline)
{
    struct lane_bins bins = {.timeline = timeline, .each = 1};
    double rate = profile_least_rate(page->input->profile), least_ns = rate > 0 ? LEAST_SAMPLES * 1e9 / rate : 0;
    while ((double)timeline->lane_bin_ns * bins.each < least_ns && bins.each < timeline->lane_bins)
        bins.each *= 2;
    bins.count = (timeline->lane_bins + bins.each - 1) / bins.each;
    return bins;
}

static double page_timeline_lane_ns(const struct lane_bins *bins, size_t lane, uint32_t bin, int state)
{
    double sum = 0;
    for (uint32_t i = bin * bins->each; i < (bin + 1) * bins->each && i < bins->timeline->lane_bins; i++)
        sum += bins->timeline->lanes[lane].ns[i][state];
    return sum;
}

static double page_timeline_state_ns(const struct lane_bins *bins, uint32_t bin, int state)
{
    double sum = 0;
    for (size_t lane = 0; lane < bins->timeline->lane_count; lane++)
        sum += page_timeline_lane_ns(bins, lane, bin, state);
    return sum;
}

/* Returns the time in ns that counts as 100 % in a lane's bin. Normally this is the measured time, because a
 * sample may fall into the next bin. If the measured time is less than half of the bin's length times the
 * number of threads, that product counts as 100 %. */
static double page_timeline_measured_ns(const struct page *page, const struct lane_bins *bins, size_t lane,
                                        uint32_t bin)
{
    const struct timeline *timeline = bins->timeline;
    double sum = 0, whole = timeline->lanes[lane].threads *
                            page_timeline_bin_width_ns(page, timeline, bin, bins->each * timeline->lane_bin_ns);
    for (int state = 0; state < PROFILE_TIME_STATES; state++)
        sum += page_timeline_lane_ns(bins, lane, bin, state);
    return sum > whole / 2 ? sum : whole;
}

static void page_timeline_put_state(struct page *page, const struct lane_bins *bins, int state)
{
    struct base64 to = {.out = page->out};
    fprintf(page->out, "{\"key\":\"%s\",\"us\":[", state_title[state]);
    for (uint32_t bin = 0; bin < bins->count; bin++) {
        fputs(bin ? "," : "", page->out);
        page_micro(page->out, page_timeline_state_ns(bins, bin, state) * 1e-9);
    }
    fputs("],\"shares\":\"", page->out);
    for (size_t lane = 0; lane < bins->timeline->lane_count; lane++)
        for (uint32_t bin = 0; bin < bins->count; bin++)
            page_base64_put(&to, page_timeline_share_code(page_timeline_lane_ns(bins, lane, bin, state),
                                                          page_timeline_measured_ns(page, bins, lane, bin)));
    page_base64_end(&to);
    fputs("\"}", page->out);
}

static void page_timeline_put_states(struct page *page, const struct lane_bins *bins)
{
    fputs(",\n\"states\":[", page->out);
    for (int state = 0, put = 0; state < PROFILE_TIME_STATES; state++) {
        bool any = false;
        for (uint32_t bin = 0; bin < bins->count && !any; bin++)
            any = page_timeline_state_ns(bins, bin, state) != 0;
        if (!any)
            continue;
        fputs(put++ ? ",\n" : "", page->out);
        page_timeline_put_state(page, bins, state);
    }
    putc_unlocked(']', page->out);
}

enum lane_column { THREAD, THREADS, RANK, PROCESS, LAST_RANK, CELLS, LANE_COLUMNS };

/* Returns one column of a lane. If the lane combines several ranks, its last rank is the one before the first
 * rank of the next lane. */
static int64_t page_timeline_lane_value(const struct page *page, const struct timeline *timeline, size_t lane,
                                        int column)
{
    const struct profile *profile = page->input->profile;
    const struct timeline_lane *at = &timeline->lanes[lane];
    size_t record = at->rank_record;
    switch (column) {
    case THREAD:
        return record && timeline->level != TIMELINE_THREADS ? -1 : (int64_t)at->thread;
    case THREADS:
        return at->threads;
    case CELLS:
        return at->cell_lane;
    default:
        if (column == LAST_RANK && timeline->level > TIMELINE_RANKS)
            record = lane + 1 < timeline->lane_count ? timeline->lanes[lane + 1].rank_record - 1u : profile->rank_count;
        if (!record || record > profile->rank_count || profile->ranks[record - 1].rank == PROFILE_RANK_UNKNOWN)
            return column == PROCESS ? 0 : -1;
        return column == PROCESS ? profile->ranks[record - 1].process : profile->ranks[record - 1].rank;
    }
}

static void page_timeline_put_lanes(struct page *page, const struct timeline *timeline)
{
    static const char *const name[LANE_COLUMNS] = {"thread", "threads", "rank", "process", "last_rank", "cells"};
    fprintf(page->out, ",\n\"lanes\":{\"count\":%zu", timeline->lane_count);
    for (int column = 0; column < LANE_COLUMNS; column++) {
        fprintf(page->out, ",\n\"%s\":[", name[column]);
        for (size_t lane = 0; lane < timeline->lane_count; lane++) {
            fputs(lane ? "," : "", page->out);
            page_whole(page->out, page_timeline_lane_value(page, timeline, lane, column));
        }
        putc_unlocked(']', page->out);
    }
    putc_unlocked('}', page->out);
}

void page_put_timeline(struct page *page)
{
    const struct timeline *timeline = &page->input->profile->timeline;
    if (!timeline->bins || !timeline->lane_count) {
        fputs("null", page->out);
        return;
    }
    struct contexts contexts = {.timeline = timeline};
    struct lane_bins bins = page_timeline_lane_bins(page, timeline);
    page_timeline_choose_contexts(page, &contexts);
    page_timeline_add_cells(page, &contexts);
    fprintf(page->out, "{\"origin_us\":%lld,\"bin_us\":",
            (long long)(timeline->origin_ns - page->input->profile->header.start_ns) / 1000);
    page_micro(page->out, (double)timeline->bin_ns * 1e-9);
    fputs(",\"lane_bin_us\":", page->out);
    page_micro(page->out, (double)(bins.each * timeline->lane_bin_ns) * 1e-9);
    fprintf(page->out, ",\"bins\":%u,\"lane_bins\":%u", timeline->bins, bins.count);
    page_timeline_put_lanes(page, timeline);
    page_timeline_put_states(page, &bins);
    page_timeline_put_contexts(page, &contexts);
    page_timeline_put_tops(page, &contexts);
    putc_unlocked('}', page->out);
    free(contexts.context);
    free(contexts.of_row);
    free(contexts.values);
}
