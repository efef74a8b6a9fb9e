#include "command/export/trial.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/hash.h"
#include "cct/profile_tree.h"
#include "command/compare/names.h"
#include "command/compare/compare.h"
#include "command/export/locations.h"
#include "command/findings/finding.h"
#include "command/profile/pair_map.h"
#include "command/profile/profile.h"
#include "command/rows/error.h"
#include "command/rows/metric.h"
#include "command/rows/row.h"
#include "command/tables/conservation.h"
#include "command/tables/ranks.h"
#include "command/text/format.h"
#include "command/text/json_text.h"
#include "command/text/memory.h"

/* ---- the contexts of a trial: a row is identified by its path from the root ---- */

static uint64_t export_trial_mix(uint64_t hash, uint64_t with)
{
    hash = (hash ^ with) * HASH_FACTOR;
    return hash ^ hash >> 29;
}

static uint64_t export_trial_mix_text(uint64_t hash, const char *text)
{
    return export_trial_mix(hash, text ? hash_bytes(text, strlen(text)) : 0);
}

static uint64_t export_trial_row_identity(const struct row *row)
{
    uint64_t hash = export_trial_mix(row->kind + 1u, (uint64_t)row->call_line);
    hash = export_trial_mix_text(
        export_trial_mix_text(export_trial_mix_text(hash, row->label->name), row->label->module), row->label->file);
    return export_trial_mix(hash, (uint64_t)row->label->line);
}

static uint64_t export_trial_canonical_hash(const struct row *row)
{
    char *name = canonical_name(row->kind, row->label->name),
         *module = canonical_module(row->label->module ? row->label->module : "");
    uint64_t hash = export_trial_mix_text(
        export_trial_mix_text(row->kind == ROW_INLINED ? ROW_PROCEDURE : row->kind, name), module);
    free(name);
    free(module);
    return hash;
}

/* For each label, hashes of its texts, computed once. */
struct label_hashes {
    struct pair_map place;
    uint64_t *own, *canonical;
    size_t count, own_room, canonical_room;
};

static size_t export_trial_find_label(struct label_hashes *hashes, const struct row *row)
{
    uint32_t *place =
        pair_map_slot(&hashes->place, (uintptr_t)row->label, (uint64_t)row->kind << 32 | (uint32_t)row->call_line);
    if (*place != PAIR_MAP_NEW)
        return *place;
    *place = (uint32_t)hashes->count;
    memory_grow(&hashes->own, &hashes->own_room, hashes->count, sizeof *hashes->own);
    memory_grow(&hashes->canonical, &hashes->canonical_room, hashes->count, sizeof *hashes->canonical);
    hashes->own[hashes->count] = export_trial_row_identity(row);
    hashes->canonical[hashes->count] = row->kind == ROW_STATEMENT ? 0 : export_trial_canonical_hash(row);
    return hashes->count++;
}

/* Computes two hashes for each row, in arrays that the caller frees. `identity` covers the names, modules,
 * files and lines from the root to the row. It does not depend on other rows, so all runs of a build have the
 * same. `path` covers only kinds and canonical names (docs/lab.md), so other builds have the same too. A
 * statement row has the path of its function. */
static void export_trial_identify_contexts(const struct rows *rows, int64_t **identity, int64_t **path)
{
    struct label_hashes hashes = {0};
    struct pair_map taken = {0};
    *identity = memory_array(rows->count, sizeof **identity);
    *path = memory_array(rows->count, sizeof **path);
    for (uint32_t i = 0; i < rows->count; i++) {
        const struct row *row = &rows->row[i];
        size_t label = export_trial_find_label(&hashes, row);
        uint64_t above = i ? (uint64_t)(*identity)[row->parent] : 0,
                 above_path = i ? (uint64_t)(*path)[row->parent] : 0;
        uint64_t own = export_trial_mix(above, i ? hashes.own[label] : ROW_ROOT + 1u);
        /* Siblings with equal hashes are distinguished by their order. */
        while (*pair_map_slot(&taken, own, 1) != PAIR_MAP_NEW)
            own = export_trial_mix(own, 1);
        *pair_map_slot(&taken, own, 1) = i;
        (*identity)[i] = (int64_t)own;
        (*path)[i] = (int64_t)(!i                           ? own
                               : row->kind == ROW_STATEMENT ? above_path
                                                            : export_trial_mix(above_path, hashes.canonical[label]));
    }
    pair_map_free(&taken);
    pair_map_free(&hashes.place);
    free(hashes.own);
    free(hashes.canonical);
}

/* ---- facts about a run: its environment, its compiler, and what the user says about it ---- */

/* a fact that the user gave with --meta of `blame run` or `blame db add` */
#define FACT_USER        "user"
#define FACT_ENVIRONMENT "environment" /* an environment variable OMP_... or KMP_... */
#define FACT_MACHINE     "machine"     /* a property of the machine, as in run.json */
#define FACT_OPTION      "option"      /* an option of the measurement, as in run.json */
#define FACT_PARAMETER   "parameter"   /* a parameter of a phase */
#define FACT_BUILD       "build"       /* the build id of a module */

void export_facts_put(struct facts *facts, const char *kind, const char *name, const char *value)
{
    bool several = strcmp(kind, FACT_PARAMETER) == 0 || strcmp(kind, FACT_COMPILER) == 0;
    char *clean = format_clean(value, false);
    for (size_t i = 0; i < facts->count; i++) {
        struct fact *fact = &facts->fact[i];
        bool same = strcmp(fact->kind, kind) == 0 && strcmp(fact->name, name) == 0 &&
                    (!several || strcmp(fact->value, clean) == 0);
        if (same) {
            free(fact->value);
            fact->value = clean;
            return;
        }
    }
    memory_grow(&facts->fact, &facts->room, facts->count, sizeof *facts->fact);
    facts->fact[facts->count++] = (struct fact){memory_text("%s", kind), format_clean(name, true), clean};
}

/* Adds a fact for each line NAME=VALUE whose name starts with the prefix `less`. The prefix is removed from
 * the name, which is converted to lower case. */
static void export_facts_put_lines(struct facts *facts, const char *kind, const char *lines, const char *less)
{
    size_t skip = strlen(less);
    while (lines && *lines) {
        size_t bytes = strcspn(lines, "\n"), length = strcspn(lines, "=\n");
        if (length < bytes && length > skip && strncmp(lines, less, skip) == 0) {
            char *name = memory_text("%.*s", (int)(length - skip), lines + skip);
            char *value = memory_text("%.*s", (int)(bytes - length - 1), lines + length + 1);
            for (char *at = name; *less && *at; at++)
                *at = (char)tolower((unsigned char)*at);
            export_facts_put(facts, kind, name, value);
            free(name);
            free(value);
        }
        lines += bytes + (lines[bytes] == '\n');
    }
}

/* Adds the parameters of the program's phases. The measurement stores a parameter as a text such as "size =
 * 512". */
static void export_facts_put_parameters(struct facts *facts, const struct profile *profile)
{
    for (size_t i = 0; i < profile->name_count; i++) {
        const struct profile_name *name = &profile->names[i];
        const char *equals = name->kind == PROFILE_NODE_PARAMETER ? strstr(name->text, " = ") : NULL;
        if (!equals)
            continue;
        char *left = memory_text("%.*s", (int)(equals - name->text), name->text);
        export_facts_put(facts, FACT_PARAMETER, left, equals + 3);
        free(left);
    }
}

static void export_facts_put_builds(struct facts *facts, const struct profile *profile)
{
    for (size_t i = 0; i < profile->module_count; i++) {
        const struct profile_module *module = &profile->modules[i];
        char digits[2 * sizeof module->build_id + 1] = "";
        if (module->flags & PROFILE_MODULE_PYTHON)
            continue; /* the entry is a Python function, not a module */
        for (uint32_t byte = 0; byte < module->build_id_bytes && byte < sizeof module->build_id; byte++)
            snprintf(digits + 2 * byte, 3, "%02x", module->build_id[byte]);
        char *path = memory_text("%.*s", (int)sizeof module->path, module->path);
        if (*digits)
            export_facts_put(facts, FACT_BUILD, format_base_name(path), digits);
        free(path);
    }
}

void export_facts_of_profile(struct facts *facts, const struct profile *profile)
{
    export_facts_put_lines(facts, FACT_OPTION, profile_text(profile, "options"), "BLAME_");
    export_facts_put_lines(facts, FACT_MACHINE, profile_text(profile, "machine"), "");
    export_facts_put_lines(facts, FACT_ENVIRONMENT, profile_text(profile, "environment"), "");
    export_facts_put_lines(facts, FACT_USER, profile_text(profile, "meta"), "");
    export_facts_put_parameters(facts, profile);
    export_facts_put_builds(facts, profile);
}

void export_facts_free(struct facts *facts)
{
    for (size_t i = 0; i < facts->count; i++) {
        free(facts->fact[i].kind);
        free(facts->fact[i].name);
        free(facts->fact[i].value);
    }
    free(facts->fact);
    *facts = (struct facts){0};
}

/* ---- a run ---- */

static void export_trial_put_key(FILE *out, const char *key)
{
    fprintf(out, ",\"%s\":", key);
}

static void export_trial_put_text(FILE *out, const char *key, const char *text)
{
    export_trial_put_key(out, key);
    if (text && *text)
        json_text(out, text);
    else
        fputs("null", out);
}

static void export_trial_put_integer(FILE *out, const char *key, int64_t number)
{
    export_trial_put_key(out, key);
    fprintf(out, "%" PRId64, number);
}

static void export_trial_put_known(FILE *out, const char *key, bool known, int64_t number)
{
    if (known)
        export_trial_put_integer(out, key, number);
    else
        export_trial_put_text(out, key, NULL);
}

/* Writes a double with enough digits to read the same value back. 0 is written without formatting, because
 * most values are 0. */
static void export_trial_put_real(FILE *out, double value)
{
    char text[32];
    if (value == 0 || !isfinite(value)) {
        putc('0', out);
        return;
    }
    snprintf(text, sizeof text, "%.17g", value);
    for (char *at = text; *at; at++)
        putc(*at == ',' ? '.' : *at, out); /* a decimal point in every locale */
}

static void export_trial_put_metrics(FILE *out, const char *key, const struct rows *rows,
                                     const struct profile_sums *sums)
{
    export_trial_put_key(out, key);
    for (int i = 0; i < METRIC_COLUMNS; i++) {
        putc(i ? ',' : '[', out);
        export_trial_put_real(out, metric_value(rows, sums, (enum metric)i));
    }
    putc(']', out);
}

static void export_trial_put_started(FILE *out, int64_t realtime_ns)
{
    char text[32] = "";
    time_t when = (time_t)(realtime_ns / 1000000000);
    struct tm utc;
    if (realtime_ns > 0 && gmtime_r(&when, &utc))
        strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    export_trial_put_text(out, "started", text);
}

/* Writes the path of the profile. A path may contain bytes that JSON text cannot represent, and is then
 * written in hexadecimal too. */
static void export_trial_put_source(FILE *out, const char *path)
{
    char *real = realpath(path, NULL), *clean = format_clean(real ? real : path, false);
    export_trial_put_text(out, "source", clean);
    if (strcmp(clean, real ? real : path) != 0) {
        fputs(",\"source_bytes\":\"", out);
        for (const unsigned char *at = (const unsigned char *)(real ? real : path); *at; at++)
            fprintf(out, "%02x", *at);
        putc('"', out);
    }
    free(clean);
    free(real);
}

static void export_trial_put_facts(FILE *out, const struct facts *facts)
{
    export_trial_put_key(out, "facts");
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

static bool export_trial_has_locations(const struct locations *locations)
{
    return locations && locations->location[0].kind != LOCATION_ALL;
}

static void export_trial_put_run(FILE *out, const struct trial_run *run)
{
    const struct profile *profile = run->profile;
    const struct profile_header *header = &profile->header;
    char id[PROFILE_IDENTITY_BYTES];
    profile_identity(profile, id);
    fprintf(out, "{\"record\":\"run\",\"run\":\"%s\"", id);
    export_trial_put_text(out, "path", run->path);
    export_trial_put_source(out, run->path);
    export_trial_put_started(out, header->start_realtime_ns);
    export_trial_put_text(out, "ended", header->finished ? "normally" : header->snapshot ? "not yet" : "killed");
    export_trial_put_text(out, "program", header->program);
    export_trial_put_text(out, "command", profile_text(profile, "command"));
    export_trial_put_text(out, "host",
                          header->merged ? profile->rank_count ? profile->ranks[0].host : NULL
                                         : profile_text(profile, "host"));
    export_trial_put_text(out, "cpu_model", profile_text(profile, "cpu_model"));
    export_trial_put_text(out, "binding", profile_text(profile, "binding"));
    export_trial_put_text(out, "clock", header->clock ? "cpu" : "wall");
    export_trial_put_text(out, "environment", header->environment ? "shared" : "dedicated");
    export_trial_put_text(out, "unit", profile_text(profile, "sample") ? profile_text(profile, "sample") : "s");
    export_trial_put_text(out, "runtime", profile_text(profile, "runtime"));
    export_trial_put_text(out, "blame", profile_text(profile, "version"));
    export_trial_put_integer(out, "cores", header->cores);
    export_trial_put_integer(out, "threads", header->threads_max);
    export_trial_put_integer(out, "ranks", header->merged ? header->merged : 1);
    export_trial_put_integer(out, "nodes", header->merged ? (int64_t)ranks_nodes(profile) : 1);
    export_trial_put_integer(out, "rate", header->rate);
    export_trial_put_integer(out, "finished", header->finished);
    export_trial_put_integer(out, "merged", header->merged);
    export_trial_put_key(out, "wall_s");
    export_trial_put_real(out, profile_wall_s(profile));
    export_trial_put_facts(out, run->facts);
    export_trial_put_key(out, "metrics");
    for (int i = 0; i < METRIC_COLUMNS; i++) {
        putc(i ? ',' : '[', out);
        json_text(out, metric_word[i]);
    }
    putc(']', out);
    if (run->rows) {
        export_trial_put_integer(out, "samples", (int64_t)run->rows->row[0].inclusive->samples);
        export_trial_put_integer(out, "contexts", (int64_t)run->rows->count);
        export_trial_put_text(out, "detail", export_trial_has_locations(run->locations) ? "locations" : "sums");
    }
    fputs("}\n", out);
}

static void export_trial_put_findings(FILE *out, const struct findings *findings)
{
    for (size_t i = 0; i < findings->count; i++) {
        const struct finding *finding = &findings->finding[i];
        fputs("{\"record\":\"finding\"", out);
        export_trial_put_text(out, "rule", finding->rule);
        export_trial_put_text(out, "title", finding->title);
        export_trial_put_text(out, "place", finding->place);
        export_trial_put_key(out, "share");
        export_trial_put_real(out, finding->share);
        export_trial_put_key(out, "gain_s");
        export_trial_put_real(out, finding->gain_s);
        fputs("}\n", out);
    }
}

/* Writes the number, the parent and the label of a context. If there is no parent, `parent` is ROW_NONE. */
static void export_trial_put_label(FILE *out, uint32_t number, uint32_t parent, uint32_t depth, uint8_t kind,
                                   const struct row_label *label)
{
    fprintf(out, "{\"record\":\"context\",\"context\":%" PRIu32, number);
    export_trial_put_known(out, "parent", parent != ROW_NONE, parent);
    export_trial_put_integer(out, "depth", depth);
    export_trial_put_text(out, "kind", row_kind_name[kind]);
    export_trial_put_text(out, "name", label->name);
    export_trial_put_text(out, "module", label->module);
    export_trial_put_text(out, "file", label->file);
    export_trial_put_known(out, "line", label->line != 0, label->line);
}

/* Writes all contexts. 64-bit numbers are written as strings, because many JSON readers convert numbers to
 * doubles. */
static void export_trial_put_contexts(FILE *out, const struct rows *rows)
{
    int64_t *identity, *path;
    export_trial_identify_contexts(rows, &identity, &path);
    for (uint32_t i = 0; i < rows->count; i++) {
        const struct row *row = &rows->row[i];
        export_trial_put_label(out, i, row->parent, row->depth, row->kind, row->label);
        export_trial_put_known(out, "call_line", row->call_line != 0, row->call_line);
        fprintf(out, ",\"identity\":\"%" PRId64 "\",\"path\":\"%" PRId64 "\"", identity[i], path[i]);
        export_trial_put_metrics(out, "inclusive", rows, row->inclusive);
        export_trial_put_metrics(out, "exclusive", rows, row->exclusive);
        fputs("}\n", out);
    }
    free(identity);
    free(path);
}

static void export_trial_put_location(FILE *out, size_t number, const struct location *location)
{
    static const char *const kinds[] = {
        [LOCATION_ALL] = "all", [LOCATION_PROCESS] = "process", [LOCATION_THREAD] = "thread"};
    fprintf(out, "{\"record\":\"location\",\"location\":%zu", number);
    export_trial_put_text(out, "kind", kinds[location->kind]);
    export_trial_put_known(out, "rank", location->ranked, location->rank);
    export_trial_put_known(out, "thread", location->thread != LOCATION_NO_THREAD, (int64_t)location->thread);
    export_trial_put_text(out, "host", location->host);
    export_trial_put_known(out, "pid", location->pid != 0, location->pid);
    fputs("}\n", out);
}

static bool export_trial_put_location_values(FILE *out, struct locations *locations, size_t number)
{
    struct location_rows read;
    if (!export_locations_read(locations, number, &read))
        return false;
    for (uint32_t i = 0; i < read.rows->count; i++) {
        fprintf(out, "{\"record\":\"values\",\"location\":%zu,\"context\":%" PRIu32, number, read.of ? read.of[i] : i);
        export_trial_put_metrics(out, "inclusive", read.rows, read.rows->row[i].inclusive);
        export_trial_put_metrics(out, "exclusive", read.rows, read.rows->row[i].exclusive);
        fputs("}\n", out);
    }
    export_location_rows_free(&read);
    return true;
}

bool export_trial(FILE *out, const struct trial_run *run)
{
    bool good = true;
    export_trial_put_run(out, run);
    if (!run->rows)
        return true;
    export_trial_put_findings(out, run->findings);
    export_trial_put_contexts(out, run->rows);
    for (size_t i = 0; good && run->locations && i < run->locations->count; i++) {
        export_trial_put_location(out, i, &run->locations->location[i]);
        if (run->locations->location[i].kind != LOCATION_ALL)
            good = export_trial_put_location_values(out, run->locations, i);
    }
    if (good)
        fputs("{\"record\":\"end\"}\n", out); /* a reader that finds no such line has an incomplete run */
    return good;
}

/* Writes the values of a context in one run, as an array with one value for each metric. */
static void export_trial_put_compared(FILE *out, const struct comparison *comparison, size_t run, uint32_t context,
                                      bool inclusive)
{
    export_trial_put_key(out, inclusive ? "inclusive" : "exclusive");
    for (int i = 0; i < METRIC_COLUMNS; i++) {
        putc(i ? ',' : '[', out);
        export_trial_put_real(out, comparison_value(comparison, run, context, (enum metric)i, inclusive));
    }
    putc(']', out);
}

/* Writes the sampling variances of a context's exclusive values in one run, as an array with one variance for
 * each metric. */
static void export_trial_put_variances(FILE *out, const struct comparison *comparison, size_t run, uint32_t context)
{
    struct error_basis basis = comparison_basis(comparison, run, context, false);
    export_trial_put_key(out, "variance");
    for (int i = 0; i < METRIC_COLUMNS; i++) {
        double value = comparison_value(comparison, run, context, (enum metric)i, false);
        putc(i ? ',' : '[', out);
        export_trial_put_real(out, comparison_variance(comparison, run, (enum metric)i, value, basis));
    }
    putc(']', out);
}

void export_trial_compared(FILE *out, const struct comparison *comparison)
{
    for (uint32_t context = 0; context < comparison->count; context++) {
        const struct compare_context *of = &comparison->context[context];
        export_trial_put_label(out, context, of->parent, of->depth, of->kind, &of->label);
        fputs("}\n", out);
        for (size_t run = 0; run < comparison->run_count; run++) {
            fprintf(out, "{\"record\":\"values\",\"run\":%zu,\"context\":%" PRIu32, run, context);
            export_trial_put_compared(out, comparison, run, context, true);
            export_trial_put_compared(out, comparison, run, context, false);
            export_trial_put_variances(out, comparison, run, context);
            fputs("}\n", out);
        }
    }
    fputs("{\"record\":\"end\"}\n", out);
}
