#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "command/export/export.h"
#include "command/export/trace_stacks.h"
#include "command/export/traced.h"
#include "command/text/format.h"
#include "command/text/json_text.h"
#include "command/text/memory.h"
#include "command/text/strings.h"

/* Version of the processed profile format, listed in docs-developer/CHANGELOG-formats.md of
 * firefox-devtools/profiler. Newer viewers convert the profile when they load it. */
#define FIREFOX_PROFILE 70
/* version of Firefox's unprocessed format at the same time; the viewer requires a number here */
#define FIREFOX_GECKO 36

struct firefox {
    FILE *out;
    const struct traced *traced;
    struct strings *strings;
    uint32_t string_count;
    struct trace_stacks stacks;
};

/* The distinct modules and source files of the functions, in the order in which they first appear. */
struct tables {
    const char **modules, **sources;
    /* for each function, an index in `modules` and an index in `sources`; PAIR_MAP_NEW: the function has none */
    uint32_t *module_of, *source_of;
    size_t module_count, source_count;
};

/* Returns the index of a text in the profile's string table. */
static uint32_t firefox_string(struct firefox *firefox, const char *text)
{
    char *clean = format_clean(text, false);
    uint32_t id = strings_intern(firefox->strings, clean);
    firefox->string_count = id >= firefox->string_count ? id + 1 : firefox->string_count;
    free(clean);
    return id;
}

/* The format stores a table as columns of the form "name":[...]. firefox_begin_column starts a column.
 * firefox_put_constant writes a whole column whose `count` values are equal. */
static void firefox_begin_column(struct firefox *firefox, const char *name)
{
    fprintf(firefox->out, "\"%s\":[", name);
}

static void firefox_put_constant(struct firefox *firefox, const char *name, const char *value, size_t count)
{
    firefox_begin_column(firefox, name);
    for (size_t i = 0; i < count; i++) {
        fputs(i ? "," : "", firefox->out);
        fputs(value, firefox->out);
    }
    fputs("],", firefox->out);
}

/* Writes nanoseconds as milliseconds. */
static void firefox_put_ms(struct firefox *firefox, double ns)
{
    json_decimal(firefox->out, ns / 1e6, 6);
}

static uint32_t firefox_number_of(struct pair_map *map, uint32_t text, const char *name, const char **list,
                                  size_t *count)
{
    if (!*name)
        return PAIR_MAP_NEW;
    uint32_t *slot = pair_map_slot(map, text, 0);
    if (*slot == PAIR_MAP_NEW) {
        list[*count] = name;
        *slot = (uint32_t)(*count)++;
    }
    return *slot;
}

static struct tables firefox_gather_tables(struct trace_stacks *stacks)
{
    size_t room = stacks->function_count + 1;
    struct tables tables = {.modules = memory_array(room, sizeof *tables.modules),
                            .sources = memory_array(room, sizeof *tables.sources),
                            .module_of = memory_array(room, sizeof *tables.module_of),
                            .source_of = memory_array(room, sizeof *tables.source_of)};
    struct pair_map modules = {0}, sources = {0};
    for (size_t i = 0; i < stacks->function_count; i++) {
        const char *module = stacks->functions[i]->module, *file = stacks->functions[i]->file;
        tables.module_of[i] = firefox_number_of(&modules, strings_intern(stacks->texts, module), module, tables.modules,
                                                &tables.module_count);
        tables.source_of[i] = firefox_number_of(&sources, strings_intern(stacks->texts, file), file, tables.sources,
                                                &tables.source_count);
    }
    pair_map_free(&modules);
    pair_map_free(&sources);
    return tables;
}

static void firefox_free_tables(struct tables *tables)
{
    free(tables->modules);
    free(tables->sources);
    free(tables->module_of);
    free(tables->source_of);
}

static void firefox_put_stacks(struct firefox *firefox)
{
    const struct trace_stacks *stacks = &firefox->stacks;
    fputs("\"stackTable\":{", firefox->out);
    firefox_begin_column(firefox, "frame");
    for (size_t i = 0; i < stacks->stack_count; i++)
        fprintf(firefox->out, "%s%u", i ? "," : "", stacks->stacks[i].frame - 1);
    fputs("],\n", firefox->out);
    /* distance from a stack to its caller's stack; 0: there is no caller */
    firefox_begin_column(firefox, "prefixOffset");
    for (size_t i = 0; i < stacks->stack_count; i++)
        fprintf(firefox->out, "%s%zu", i ? "," : "", stacks->stacks[i].parent ? i + 1 - stacks->stacks[i].parent : 0);
    fprintf(firefox->out, "],\"length\":%zu},\n", stacks->stack_count);
}

static void firefox_put_index(struct firefox *firefox, size_t at, uint32_t index, const char *none)
{
    fputs(at ? "," : "", firefox->out);
    if (index == PAIR_MAP_NEW)
        fputs(none, firefox->out);
    else
        fprintf(firefox->out, "%" PRIu32, index);
}

static void firefox_put_frames(struct firefox *firefox)
{
    const struct trace_stacks *stacks = &firefox->stacks;
    size_t count = stacks->frame_count;
    fputs("\"frameTable\":{", firefox->out);
    firefox_put_constant(firefox, "address", "-1", count);
    firefox_put_constant(firefox, "lib", "-1", count);
    firefox_put_constant(firefox, "inlineDepth", "0", count);
    firefox_put_constant(firefox, "subcategory", "0", count);
    firefox_put_constant(firefox, "nativeSymbol", "null", count);
    firefox_put_constant(firefox, "innerWindowID", "0", count);
    firefox_put_constant(firefox, "column", "null", count);
    firefox_put_constant(firefox, "originalLocation", "null", count);
    firefox_begin_column(firefox, "category");
    for (size_t i = 0; i < count; i++)
        firefox_put_index(firefox, i, stacks->frames[i].state, "");
    fputs("],", firefox->out);
    firefox_begin_column(firefox, "func");
    for (size_t i = 0; i < count; i++)
        firefox_put_index(firefox, i, stacks->frames[i].function - 1, "");
    fputs("],", firefox->out);
    firefox_begin_column(firefox, "line");
    for (size_t i = 0; i < count; i++)
        firefox_put_index(firefox, i, stacks->frames[i].line > 0 ? (uint32_t)stacks->frames[i].line : PAIR_MAP_NEW,
                          "null");
    fprintf(firefox->out, "],\"length\":%zu},\n", count);
}

static void firefox_put_functions(struct firefox *firefox, const struct tables *tables)
{
    const struct row_label **functions = firefox->stacks.functions;
    size_t count = firefox->stacks.function_count;
    fputs("\"funcTable\":{", firefox->out);
    firefox_put_constant(firefox, "isJS", "false", count);
    firefox_put_constant(firefox, "relevantForJS", "false", count);
    firefox_put_constant(firefox, "columnNumber", "null", count);
    firefox_put_constant(firefox, "originalLocation", "null", count);
    firefox_begin_column(firefox, "name");
    for (size_t i = 0; i < count; i++)
        firefox_put_index(firefox, i, firefox_string(firefox, functions[i]->name), "");
    fputs("],", firefox->out);
    firefox_begin_column(firefox, "resource");
    for (size_t i = 0; i < count; i++)
        firefox_put_index(firefox, i, tables->module_of[i], "-1");
    fputs("],", firefox->out);
    firefox_begin_column(firefox, "source");
    for (size_t i = 0; i < count; i++)
        firefox_put_index(firefox, i, tables->source_of[i], "null");
    fputs("],", firefox->out);
    firefox_begin_column(firefox, "lineNumber");
    for (size_t i = 0; i < count; i++)
        firefox_put_index(firefox, i, functions[i]->line > 0 ? (uint32_t)functions[i]->line : PAIR_MAP_NEW, "null");
    fprintf(firefox->out, "],\"length\":%zu},\n", count);
}

static void firefox_put_texts(struct firefox *firefox, const char *column, const char **texts, size_t count)
{
    firefox_begin_column(firefox, column);
    for (size_t i = 0; i < count; i++)
        firefox_put_index(firefox, i, firefox_string(firefox, texts[i]), "");
    fprintf(firefox->out, "],\"length\":%zu},\n", count);
}

/* Writes `"shared": {...}`, which contains the tables that samples and markers refer to. */
static void firefox_put_shared(struct firefox *firefox)
{
    struct tables tables = firefox_gather_tables(&firefox->stacks);
    fputs("\"shared\":{\n", firefox->out);
    firefox_put_stacks(firefox);
    firefox_put_frames(firefox);
    firefox_put_functions(firefox, &tables);
    fputs("\"resourceTable\":{", firefox->out);
    firefox_put_constant(firefox, "host", "null", tables.module_count);
    firefox_put_constant(firefox, "type", "1", tables.module_count); /* 1 is the type for a library */
    firefox_put_texts(firefox, "name", tables.modules, tables.module_count);
    fputs("\"sources\":{", firefox->out);
    firefox_put_constant(firefox, "id", "null", tables.source_count);
    firefox_put_constant(firefox, "startLine", "1", tables.source_count);
    firefox_put_constant(firefox, "startColumn", "1", tables.source_count);
    firefox_put_constant(firefox, "sourceMapURL", "null", tables.source_count);
    firefox_put_constant(firefox, "content", "null", tables.source_count);
    firefox_put_texts(firefox, "filename", tables.sources, tables.source_count);
    fputs("\"nativeSymbols\":{\"libIndex\":[],\"address\":[],\"name\":[],\"functionSize\":[],\"length\":0},\n"
          "\"sourceLocationTable\":{\"source\":[],\"line\":[],\"column\":[],\"length\":0},\n",
          firefox->out);
    firefox_begin_column(firefox, "stringArray");
    for (uint32_t i = 0; i < firefox->string_count; i++) {
        fputs(i ? ",\n" : "", firefox->out);
        json_text(firefox->out, strings_text(firefox->strings, i));
    }
    fputs("]}", firefox->out);
    firefox_free_tables(&tables);
}

/* ---- the profile ---- */

#ifndef BLAME_VERSION
#define BLAME_VERSION "0.1.0"
#endif

#define INTERVAL       1 /* a marker with a start and an end */
#define INTERVAL_BEGIN 2 /* a marker that has only a start; an INTERVAL_END marker has only an end */
#define INTERVAL_END   3
#define OTHER          PROFILE_TIME_STATES /* index of the category "Other", which the viewer requires */

/* Colours that the viewer knows by name, close to those of the HTML report. */
static const char *const state_colour[PROFILE_TIME_STATES] = {
    [PROFILE_TIME_WORK] = "blue",        [PROFILE_TIME_OVERHEAD] = "magenta", [PROFILE_TIME_IDLE] = "yellow",
    [PROFILE_TIME_LOCK_WAIT] = "orange", [PROFILE_TIME_MPI_WAIT] = "purple",  [PROFILE_TIME_NO_CORE] = "green",
    [PROFILE_TIME_BLOCKED] = "brown",    [PROFILE_TIME_STOPPED] = "darkgrey",
};

static const char schema[] = "\"markerSchema\":["
                             "{\"name\":\"idle\",\"display\":[\"marker-chart\",\"marker-table\"],\"tooltipLabel\":"
                             "\"idle\",\"tableLabel\":\"{marker.data.because}\","
                             "\"chartLabel\":\"{marker.data.because}\",\"description\":\"A thread had no work. The "
                             "label names the code that busy threads executed meanwhile.\","
                             "\"fields\":[{\"key\":\"because\",\"label\":\"because of\",\"format\":\"string\"}]},"
                             "{\"name\":\"phase\",\"display\":[\"marker-chart\",\"marker-table\"],\"description\":\"A "
                             "phase, as seen in the samples of the first thread.\",\"fields\":[]}]";

static void firefox_put_meta(const struct firefox *firefox)
{
    FILE *out = firefox->out;
    const struct profile *profile = firefox->traced->processes[0].rows->profile;
    const struct profile_header *header = &profile->header;
    const char *command = profile_text(profile, "command");
    fputs("\"meta\":{\"interval\":", out);
    json_decimal(out, header->period_ns ? (double)header->period_ns / 1e6 : 1, 6);
    fputs(",\"startTime\":", out);
    json_decimal(out, (double)firefox->traced->start_realtime_ns / 1e6, 3);
    fprintf(out, ",\"version\":%d,\"preprocessedProfileVersion\":%d,\"processType\":0,\"stackwalk\":1,\"product\":",
            FIREFOX_GECKO, FIREFOX_PROFILE);
    json_text(out, *header->program ? header->program : "program");
    fputs(",\"arguments\":", out);
    json_text(out, command ? command : "");
    fputs(",\"importedFrom\":\"blame " BLAME_VERSION
          "\",\"symbolicated\":true,\"symbolicationNotSupported\":true,\"usesOnlyOneStackType\":true,"
          "\"sourceCodeIsNotOnSearchfox\":true,\"keepProfileThreadOrder\":true,\n\"categories\":[",
          out);
    for (int i = 0; i < PROFILE_TIME_STATES; i++)
        fprintf(out, "{\"name\":\"%s\",\"color\":\"%s\",\"subcategories\":[\"Other\"]},", trace_state_name[i],
                state_colour[i]);
    fprintf(out, "{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]}],\n%s}", schema);
}

/* A sample of a thread, made from a piece of a span. A gap between spans, in which the thread's activity is
 * unknown, becomes a sample without a stack. */
struct sample {
    uint64_t time_ns, weight_ns;
    uint32_t stack; /* 0: none */
};
typedef void put_sample(struct firefox *firefox, const struct sample *sample);

static void firefox_put_sample_time(struct firefox *firefox, const struct sample *sample)
{
    firefox_put_ms(firefox, (double)(sample->time_ns));
}

static void firefox_put_sample_weight(struct firefox *firefox, const struct sample *sample)
{
    firefox_put_ms(firefox, (double)sample->weight_ns);
}

static void firefox_put_sample_stack(struct firefox *firefox, const struct sample *sample)
{
    if (sample->stack)
        fprintf(firefox->out, "%" PRIu32, sample->stack - 1);
    else
        fputs("null", firefox->out);
}

static size_t firefox_put_sample_column(struct firefox *firefox, const char *name, const struct trace_lane *lane,
                                        put_sample *put)
{
    size_t count = 0;
    firefox_begin_column(firefox, name);
    for (size_t i = 0; i < lane->span_count; i++) {
        const struct trace_span *span = &lane->spans[i];
        uint32_t pieces = export_traced_pieces(lane, span),
                 stack = export_trace_stack(&firefox->stacks, span->node, span->state);
        for (uint32_t j = 0; j < pieces; j++) {
            struct trace_span piece = export_traced_piece(span, pieces, j);
            uint64_t length = piece.end_ns - piece.begin_ns;
            fputs(count++ ? "," : "", firefox->out);
            put(firefox, &(struct sample){piece.begin_ns + length / 2, length, stack});
        }
        if (i + 1 == lane->span_count || lane->spans[i + 1].begin_ns > span->end_ns) {
            fputs(",", firefox->out);
            put(firefox, &(struct sample){span->end_ns, 0, 0});
            count++;
        }
    }
    fputs("],\n", firefox->out);
    return count;
}

static void firefox_put_samples(struct firefox *firefox, const struct trace_lane *lane)
{
    fputs("\"samples\":{\"weightType\":\"tracing-ms\",", firefox->out);
    firefox_put_sample_column(firefox, "time", lane, firefox_put_sample_time);
    firefox_put_sample_column(firefox, "weight", lane, firefox_put_sample_weight);
    size_t count = firefox_put_sample_column(firefox, "stack", lane, firefox_put_sample_stack);
    fprintf(firefox->out, "\"length\":%zu},\n", count);
}

static void firefox_append_share(char **text, const char *name, double ns, double whole_ns)
{
    if (ns * 200 < whole_ns) /* below 0.5 %, which would be rounded to 0 */
        return;
    char *longer = memory_text("%s%s%s %.0f %%", *text ? *text : "", *text ? ", " : "", name, 100 * ns / whole_ns);
    free(*text);
    *text = longer;
}

/* Returns a text such as "refine 71 %, others 29 %", which the caller frees, or NULL if every share rounds to
 * 0. */
static char *firefox_idle_reasons(const struct sharing *culprits, const struct idle_share *share)
{
    char *text = NULL;
    double whole = (double)share->others + share->nobody;
    for (size_t i = 0; i < culprits->count; i++)
        whole += share->culprit[i];
    for (size_t i = 0; i < culprits->count; i++) {
        char *name = export_culprit_name(&culprits->top[i]);
        firefox_append_share(&text, name, share->culprit[i], whole);
        free(name);
    }
    firefox_append_share(&text, "others", share->others, whole);
    firefox_append_share(&text, "nobody was busy", share->nobody, whole);
    return text;
}

/* The markers of a thread: first the phases of the process, then the thread's idle times. Adjacent idle spans
 * share a marker. */
struct markers {
    const struct trace_lane *lane;
    const struct sharing *culprits;
    /* share of the lane's first idle span; the shares of its other idle spans follow */
    const struct idle_share *share;
    const struct traced_phase *phases;
    size_t phase_count;
};

struct marker {
    uint64_t begin_ns, end_ns;
    const struct traced_phase *phase; /* NULL: idle */
    const struct idle_share *share;
};
typedef void put_marker(struct firefox *firefox, const struct markers *markers, const struct marker *marker);

static void firefox_put_marker_data(struct firefox *firefox, const struct markers *markers, const struct marker *marker)
{
    if (marker->phase) {
        fputs("{\"type\":\"phase\"}", firefox->out);
        return;
    }
    char *text = firefox_idle_reasons(markers->culprits, marker->share);
    fputs("{\"type\":\"idle\",\"because\":", firefox->out);
    json_text(firefox->out, text ? text : "");
    fputs("}", firefox->out);
    free(text);
}

static void firefox_put_marker_name(struct firefox *firefox, const struct markers *markers, const struct marker *marker)
{
    (void)markers;
    fprintf(firefox->out, "%" PRIu32,
            firefox_string(firefox, marker->phase ? marker->phase->name : trace_state_name[PROFILE_TIME_IDLE]));
}

static void firefox_put_marker_start(struct firefox *firefox, const struct markers *markers,
                                     const struct marker *marker)
{
    (void)markers;
    if (marker->phase && !marker->phase->begins)
        fputs("null", firefox->out);
    else
        firefox_put_ms(firefox, (double)(marker->begin_ns));
}

static void firefox_put_marker_end(struct firefox *firefox, const struct markers *markers, const struct marker *marker)
{
    (void)markers;
    if (marker->phase && marker->phase->begins)
        fputs("null", firefox->out);
    else
        firefox_put_ms(firefox, (double)(marker->end_ns));
}

static void firefox_put_marker_phase(struct firefox *firefox, const struct markers *markers,
                                     const struct marker *marker)
{
    (void)markers;
    fprintf(firefox->out, "%d", !marker->phase ? INTERVAL : marker->phase->begins ? INTERVAL_BEGIN : INTERVAL_END);
}

static void firefox_put_marker_category(struct firefox *firefox, const struct markers *markers,
                                        const struct marker *marker)
{
    (void)markers;
    fprintf(firefox->out, "%d", marker->phase ? OTHER : PROFILE_TIME_IDLE);
}

static size_t firefox_put_marker_column(struct firefox *firefox, const char *name, const struct markers *markers,
                                        put_marker *put)
{
    const struct trace_lane *lane = markers->lane;
    const struct idle_share *share = markers->share;
    size_t count = 0;
    firefox_begin_column(firefox, name);
    for (size_t i = 0; i < markers->phase_count; i++) {
        const struct traced_phase *phase = &markers->phases[i];
        fputs(count++ ? "," : "", firefox->out);
        put(firefox, markers, &(struct marker){phase->time_ns, phase->time_ns, phase, NULL});
    }
    for (size_t i = 0, end; i < lane->span_count; i = end) {
        struct idle_share sum = {0};
        end = export_traced_run_end(lane, i);
        for (size_t j = i; j < end; j++)
            export_sharing_add_share(&lane->spans[j], &share, &sum);
        if (lane->spans[i].state != PROFILE_TIME_IDLE)
            continue;
        fputs(count++ ? ",\n" : "", firefox->out);
        put(firefox, markers, &(struct marker){lane->spans[i].begin_ns, lane->spans[end - 1].end_ns, NULL, &sum});
    }
    fputs("],\n", firefox->out);
    return count;
}

static void firefox_put_markers(struct firefox *firefox, const struct markers *markers)
{
    fputs("\"markers\":{", firefox->out);
    firefox_put_marker_column(firefox, "data", markers, firefox_put_marker_data);
    firefox_put_marker_column(firefox, "name", markers, firefox_put_marker_name);
    firefox_put_marker_column(firefox, "startTime", markers, firefox_put_marker_start);
    firefox_put_marker_column(firefox, "endTime", markers, firefox_put_marker_end);
    firefox_put_marker_column(firefox, "phase", markers, firefox_put_marker_phase);
    size_t count = firefox_put_marker_column(firefox, "category", markers, firefox_put_marker_category);
    fprintf(firefox->out, "\"length\":%zu}", count);
}

static void firefox_put_thread(struct firefox *firefox, const struct traced_process *process,
                               const struct traced_thread *thread, const struct idle_share **share)
{
    FILE *out = firefox->out;
    const struct trace_lane *lane = thread->lane;
    bool first = thread == process->threads;
    struct traced_phase *phases = NULL;
    struct markers markers = {.lane = lane, .culprits = &process->culprits, .share = *share};
    markers.phase_count = first ? export_traced_phases(process, &phases) : 0;
    markers.phases = phases;
    fputs("{\"name\":", out);
    json_text(out, thread->name);
    fputs(",\"processName\":", out);
    json_text(out, process->name);
    fprintf(out,
            ",\"pid\":\"%d\",\"tid\":%d,\"isMainThread\":%s,\"processType\":\"default\",\"pausedRanges\":[],"
            "\"processStartupTime\":0,\"processShutdownTime\":null,\"registerTime\":",
            process->pid, thread->tid, first ? "true" : "false");
    firefox_put_ms(firefox, (double)(lane->spans[0].begin_ns));
    fputs(",\"unregisterTime\":", out);
    firefox_put_ms(firefox, (double)(lane->spans[lane->span_count - 1].end_ns));
    fputs(",\n", out);
    firefox_put_samples(firefox, lane);
    firefox_put_markers(firefox, &markers);
    fputs("}", out);
    free(phases);
    struct idle_share sum = {0};
    for (size_t i = 0; i < lane->span_count; i++)
        export_sharing_add_share(&lane->spans[i], share, &sum);
}

/* Writes how a level changes over time. The viewer divides each value by the time since the previous value,
 * so each level is multiplied by that time. The viewer also connects the values by lines. Of consecutive
 * windows with equal levels, only the first and the last are therefore written. */
static void firefox_put_levels(struct firefox *firefox, const struct sharing *culprits, size_t offset)
{
    size_t count = 0;
    for (int column = 0; column < 2; column++) {
        uint64_t last = culprits->begin_ns;
        firefox_begin_column(firefox, column ? "count" : "time");
        if (column)
            fputs("0", firefox->out);
        else
            firefox_put_ms(firefox, (double)(last));
        count = 1;
        for (size_t i = 0; i < culprits->level_count; i++) {
            double level = export_sharing_level(culprits, i, offset);
            uint64_t border = culprits->begin_ns + (i + 1) * culprits->window_ns,
                     end = border < culprits->end_ns ? border : culprits->end_ns;
            if (i > 0 && i + 1 < culprits->level_count && export_sharing_level(culprits, i - 1, offset) == level &&
                export_sharing_level(culprits, i + 1, offset) == level)
                continue;
            fputs(",", firefox->out);
            firefox_put_ms(firefox, column ? level * (double)(end - last) : (double)(end));
            last = end;
            count++;
        }
        fputs("],", firefox->out);
    }
    fprintf(firefox->out, "\"length\":%zu", count);
}

/* A graph that the viewer shows over time. */
struct firefox_counter {
    const char *name, *label; /* the viewer has space for only a few letters of `label`, beside the graph */
    const char *colour;
    size_t offset; /* offset in struct culprit_level of the level that the graph shows */
    int weight;    /* sort key; the viewer shows the graph with the smallest weight first */
};

static void firefox_put_counter(struct firefox *firefox, const struct traced_process *process, size_t thread,
                                const struct firefox_counter *counter)
{
    FILE *out = firefox->out;
    fputs("{\"name\":", out);
    json_text(out, counter->name);
    fprintf(out,
            ",\"category\":\"blame\",\"description\":\"threads\",\"pid\":\"%d\",\"mainThreadIndex\":%zu,\"samples\":{",
            process->pid, thread);
    firefox_put_levels(firefox, &process->culprits, counter->offset);
    fprintf(out,
            "},\n\"display\":{\"graphType\":\"line-rate\",\"unit\":\"\",\"color\":\"%s\",\"markerSchemaLocation\":null,"
            "\"sortWeight\":%d,\"label\":",
            counter->colour, counter->weight);
    json_text(out, counter->label);
    fputs(",\"tooltipRows\":[{\"type\":\"value\",\"source\":\"rate\",\"format\":{\"unit\":\"number\"},\"label\":"
          "\"threads\"},"
          "{\"type\":\"value\",\"source\":\"selection-rate\",\"format\":{\"unit\":\"number\"},\"label\":\"threads "
          "(average over the selection)\","
          "\"requiresPreviewSelection\":true}]}}",
          out);
}

static void firefox_put_counters(struct firefox *firefox, const struct traced_process *process, size_t thread)
{
    static const struct firefox_counter totals[] = {
        {"busy threads", "busy threads", "blue", offsetof(struct culprit_level, busy), 50},
        {"blamed idleness", "blamed idleness", "orange", offsetof(struct culprit_level, blamed), 51}};
    firefox_put_counter(firefox, process, thread, &totals[0]);
    fputs(",\n", firefox->out);
    firefox_put_counter(firefox, process, thread, &totals[1]);
    for (size_t i = 0; i < process->culprits.count; i++) {
        char *name = export_culprit_name(&process->culprits.top[i]), *title = memory_text("idle because of %s", name);
        char *label = memory_text("idle: %s", name);
        const struct firefox_counter of_culprit = {
            title, label, "red", offsetof(struct culprit_level, culprit) + i * sizeof(double), 52 + (int)i};
        fputs(",\n", firefox->out);
        firefox_put_counter(firefox, process, thread, &of_culprit);
        free(label);
        free(title);
        free(name);
    }
}

static void firefox_put_threads(struct firefox *firefox, struct traced_process *process, bool first)
{
    const struct idle_share *share = process->culprits.share;
    export_trace_stacks_of(&firefox->stacks, process->rows);
    for (size_t i = 0; i < process->thread_count; i++) {
        fputs(!first || i ? ",\n" : "\n", firefox->out);
        firefox_put_thread(firefox, process, &process->threads[i], &share);
    }
}

void export_firefox(FILE *out, struct traced_process *processes, size_t count)
{
    struct traced traced;
    export_traced_make(&traced, processes, count);
    struct firefox firefox = {.out = out, .traced = &traced, .strings = strings_new(), .string_count = 1};
    export_trace_stacks_start(&firefox.stacks);
    fputs("{", out);
    firefox_put_meta(&firefox);
    fputs(",\n\"libs\":[],\n\"threads\":[", out);
    size_t threads = 0;
    for (size_t i = 0; i < count; threads += processes[i++].thread_count)
        firefox_put_threads(&firefox, &processes[i], threads == 0);
    fputs("],\n\"counters\":[", out);
    threads = 0;
    for (size_t i = 0; i < count; threads += processes[i++].thread_count)
        if (processes[i].thread_count) {
            fputs(threads ? ",\n" : "\n", out);
            firefox_put_counters(&firefox, &processes[i], threads);
        }
    fputs("],\n", out);
    firefox_put_shared(&firefox);
    fputs("}\n", out);
    strings_free(firefox.strings);
    export_trace_stacks_free(&firefox.stacks);
    export_traced_free(&traced);
}
