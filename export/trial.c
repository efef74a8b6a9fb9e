#include "export/trial.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "export/trial_contexts.h"
#include "report/findings/finding.h"
#include "report/profile/identity.h"
#include "report/rows/error.h"
#include "report/rows/metric.h"
#include "report/tables/conservation.h"
#include "report/tables/ranks.h"
#include "report/text/format.h"
#include "report/text/json_text.h"
#include "report/text/memory.h"

static void put_key(FILE *out, const char *key)
{
    fprintf(out, ",\"%s\":", key);
}

static void put_text(FILE *out, const char *key, const char *text)
{
    put_key(out, key);
    if (text && *text)
        json_text(out, text);
    else
        fputs("null", out);
}

static void put_integer(FILE *out, const char *key, int64_t number)
{
    put_key(out, key);
    fprintf(out, "%" PRId64, number);
}

static void put_known(FILE *out, const char *key, bool known, int64_t number)
{
    if (known)
        put_integer(out, key, number);
    else
        put_text(out, key, NULL);
}

/* Digits from which the same double is read. Most values are 0. */
static void put_real(FILE *out, double value)
{
    char text[32];
    if (value == 0 || !isfinite(value)) {
        putc('0', out);
        return;
    }
    snprintf(text, sizeof text, "%.17g", value);
    for (char *at = text; *at; at++)
        putc(*at == ',' ? '.' : *at, out); /* whatever the locale */
}

static void put_metrics(FILE *out, const char *key, const struct rows *rows, const struct profile_sums *sums)
{
    put_key(out, key);
    for (int i = 0; i < METRIC_COLUMNS; i++) {
        putc(i ? ',' : '[', out);
        put_real(out, metric_value(rows, sums, (enum metric)i));
    }
    putc(']', out);
}

static void put_started(FILE *out, int64_t realtime_ns)
{
    char text[32] = "";
    time_t when = (time_t)(realtime_ns / 1000000000);
    struct tm utc;
    if (realtime_ns > 0 && gmtime_r(&when, &utc))
        strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    put_text(out, "started", text);
}

/* A path may have bytes that no JSON text has. */
static void put_source(FILE *out, const char *path)
{
    char *real = realpath(path, NULL), *clean = format_clean(real ? real : path, false);
    put_text(out, "source", clean);
    if (strcmp(clean, real ? real : path) != 0) {
        fputs(",\"source_bytes\":\"", out);
        for (const unsigned char *at = (const unsigned char *)(real ? real : path); *at; at++)
            fprintf(out, "%02x", *at);
        putc('"', out);
    }
    free(clean);
    free(real);
}

static void put_facts(FILE *out, const struct facts *facts)
{
    put_key(out, "facts");
    putc('[', out);
    for (size_t i = 0; i < facts->count; i++) {
        const char *const text[] = {facts->fact[i].kind, facts->fact[i].name, facts->fact[i].value};
        for (int j = 0; j < 3; j++) {
            fputs(j ? "," : i ? ",[" : "[", out);
            json_text(out, text[j]);
        }
        putc(']', out);
    }
    putc(']', out);
}

static bool has_locations(const struct locations *locations)
{
    return locations && locations->location[0].kind != LOCATION_ALL;
}

static void put_run(FILE *out, const struct trial_run *run)
{
    const struct profile *profile = run->profile;
    const struct profile_header *header = &profile->header;
    char id[PROFILE_IDENTITY_BYTES];
    profile_identity(profile, id);
    fprintf(out, "{\"record\":\"run\",\"run\":\"%s\"", id);
    put_text(out, "path", run->path);
    put_source(out, run->path);
    put_started(out, header->start_realtime_ns);
    put_text(out, "ended", header->finished ? "normally" : header->snapshot ? "not yet" : "killed");
    put_text(out, "program", header->program);
    put_text(out, "command", profile_text(profile, "command"));
    put_text(out, "host", header->merged ? profile->rank_count ? profile->ranks[0].host : NULL : profile_text(profile, "host"));
    put_text(out, "cpu_model", profile_text(profile, "cpu_model"));
    put_text(out, "binding", profile_text(profile, "binding"));
    put_text(out, "clock", header->clock ? "cpu" : "wall");
    put_text(out, "environment", header->environment ? "shared" : "dedicated");
    put_text(out, "unit", profile_text(profile, "sample") ? profile_text(profile, "sample") : "s");
    put_text(out, "runtime", profile_text(profile, "runtime"));
    put_text(out, "blame", profile_text(profile, "version"));
    put_integer(out, "cores", header->cores);
    put_integer(out, "threads", header->threads_max);
    put_integer(out, "ranks", header->merged ? header->merged : 1);
    put_integer(out, "nodes", header->merged ? (int64_t)ranks_nodes(profile) : 1);
    put_integer(out, "rate", header->rate);
    put_integer(out, "finished", header->finished);
    put_integer(out, "merged", header->merged);
    put_key(out, "wall_s");
    put_real(out, profile_wall_s(profile));
    put_facts(out, run->facts);
    put_key(out, "metrics");
    for (int i = 0; i < METRIC_COLUMNS; i++) {
        putc(i ? ',' : '[', out);
        json_text(out, metric_word[i]);
    }
    putc(']', out);
    if (run->rows) {
        put_integer(out, "samples", (int64_t)run->rows->row[0].inclusive->samples);
        put_integer(out, "contexts", (int64_t)run->rows->count);
        put_text(out, "detail", has_locations(run->locations) ? "locations" : "sums");
    }
    fputs("}\n", out);
}

static void put_findings(FILE *out, const struct findings *findings)
{
    for (size_t i = 0; i < findings->count; i++) {
        const struct finding *finding = &findings->finding[i];
        fputs("{\"record\":\"finding\"", out);
        put_text(out, "rule", finding->rule);
        put_text(out, "title", finding->title);
        put_text(out, "place", finding->place);
        put_key(out, "share");
        put_real(out, finding->share);
        put_key(out, "gain_s");
        put_real(out, finding->gain_s);
        fputs("}\n", out);
    }
}

/* What a context is called; parent: its number, ROW_NONE: it has none. */
static void put_label(FILE *out, uint32_t number, uint32_t parent, uint32_t depth, uint8_t kind, const struct row_label *label)
{
    fprintf(out, "{\"record\":\"context\",\"context\":%" PRIu32, number);
    put_known(out, "parent", parent != ROW_NONE, parent);
    put_integer(out, "depth", depth);
    put_text(out, "kind", row_kind_name[kind]);
    put_text(out, "name", label->name);
    put_text(out, "module", label->module);
    put_text(out, "file", label->file);
    put_known(out, "line", label->line != 0, label->line);
}

/* Numbers of 64 bits are text: many readers of JSON have doubles. */
static void put_contexts(FILE *out, const struct rows *rows)
{
    int64_t *identity, *path;
    contexts_identify(rows, &identity, &path);
    for (uint32_t i = 0; i < rows->count; i++) {
        const struct row *row = &rows->row[i];
        put_label(out, i, row->parent, row->depth, row->kind, row->label);
        put_known(out, "call_line", row->call_line != 0, row->call_line);
        fprintf(out, ",\"identity\":\"%" PRId64 "\",\"path\":\"%" PRId64 "\"", identity[i], path[i]);
        put_metrics(out, "inclusive", rows, row->inclusive);
        put_metrics(out, "exclusive", rows, row->exclusive);
        fputs("}\n", out);
    }
    free(identity);
    free(path);
}

static void put_location(FILE *out, size_t number, const struct location *location)
{
    static const char *const kinds[] = {[LOCATION_ALL] = "all", [LOCATION_PROCESS] = "process", [LOCATION_THREAD] = "thread"};
    fprintf(out, "{\"record\":\"location\",\"location\":%zu", number);
    put_text(out, "kind", kinds[location->kind]);
    put_known(out, "rank", location->ranked, location->rank);
    put_known(out, "thread", location->thread != LOCATION_NO_THREAD, (int64_t)location->thread);
    put_text(out, "host", location->host);
    put_known(out, "pid", location->pid != 0, location->pid);
    fputs("}\n", out);
}

static bool put_location_values(FILE *out, struct locations *locations, size_t number)
{
    struct location_rows read;
    if (!locations_read(locations, number, &read))
        return false;
    for (uint32_t i = 0; i < read.rows->count; i++) {
        fprintf(out, "{\"record\":\"values\",\"location\":%zu,\"context\":%" PRIu32, number, read.of ? read.of[i] : i);
        put_metrics(out, "inclusive", read.rows, read.rows->row[i].inclusive);
        put_metrics(out, "exclusive", read.rows, read.rows->row[i].exclusive);
        fputs("}\n", out);
    }
    location_rows_free(&read);
    return true;
}

bool export_trial(FILE *out, const struct trial_run *run)
{
    bool good = true;
    put_run(out, run);
    if (!run->rows)
        return true;
    put_findings(out, run->findings);
    put_contexts(out, run->rows);
    for (size_t i = 0; good && run->locations && i < run->locations->count; i++) {
        put_location(out, i, &run->locations->location[i]);
        if (run->locations->location[i].kind != LOCATION_ALL)
            good = put_location_values(out, run->locations, i);
    }
    if (good)
        fputs("{\"record\":\"end\"}\n", out); /* of a run that has none, the rest is missing */
    return good;
}

/* A value of each metric that is a part of the effort, and of the rest; or its variance by sampling. */
static void put_compared(FILE *out, const struct comparison *comparison, size_t run, uint32_t context, const char *key, bool inclusive, bool variance)
{
    struct error_basis basis = comparison_basis(comparison, run, context, inclusive);
    put_key(out, key);
    for (int i = 0; i < METRIC_COLUMNS; i++) {
        double value = comparison_value(comparison, run, context, (enum metric)i, inclusive);
        putc(i ? ',' : '[', out);
        put_real(out, variance ? comparison_variance(comparison, run, (enum metric)i, value, basis) : value);
    }
    putc(']', out);
}

void export_trial_compared(FILE *out, const struct comparison *comparison)
{
    for (uint32_t context = 0; context < comparison->count; context++) {
        const struct compare_context *of = &comparison->context[context];
        put_label(out, context, of->parent, of->depth, of->kind, &of->label);
        fputs("}\n", out);
        for (size_t run = 0; run < comparison->run_count; run++) {
            fprintf(out, "{\"record\":\"values\",\"run\":%zu,\"context\":%" PRIu32, run, context);
            put_compared(out, comparison, run, context, "inclusive", true, false);
            put_compared(out, comparison, run, context, "exclusive", false, false);
            put_compared(out, comparison, run, context, "variance", false, true);
            fputs("}\n", out);
        }
    }
    fputs("{\"record\":\"end\"}\n", out);
}
