#include "command/files/json.h"

#include <inttypes.h>
#include <ctype.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cct/profile_tree.h"
#include "command/profile/profile.h"
#include "command/tables/conservation.h"
#include "command/tables/coverage.h"
#include "command/tables/efficiency.h"
#include "command/tables/ranks.h"
#include "command/text/format.h"
#include "command/text/memory.h"
#include "command/tables/mpi_untold.h"
#include "command/tables/other_runtimes.h"

#ifndef BLAME_VERSION
#define BLAME_VERSION "0.1.0"
#endif

static json_t *json_seconds(double value_ns)
{
    return json_real(value_ns * 1e-9);
}

static json_t *json_of_text(const char *value)
{
    char *clean = value ? format_clean(value, false) : NULL;
    json_t *json = value ? json_string(clean) : json_null();
    free(clean);
    return json;
}

static json_t *json_digits(uint64_t value)
{
    return json_integer((json_int_t)value);
}

/* Packs a JSON object. The format `o*` leaves out a real that is not a number, which a damaged file may
 * contain. */
#define OBJECT(...) ((json_t *)memory_check(json_pack(__VA_ARGS__)))

static json_t *json_start_time(int64_t realtime_ns)
{
    char buffer[64], whole[96];
    time_t when = (time_t)(realtime_ns / 1000000000);
    int millis = (int)(realtime_ns % 1000000000 / 1000000);
    struct tm utc;
    if (realtime_ns < 0 || !gmtime_r(&when, &utc) || !strftime(buffer, sizeof buffer, "%Y-%m-%dT%H:%M:%S", &utc))
        return json_null();
    snprintf(whole, sizeof whole, "%s.%03dZ", buffer, millis);
    return json_string(whole);
}

/* Returns a JSON number if the value consists of digits; otherwise, a string. The value of an option that is
 * a name is always a string. */
static json_t *json_option_value(const char *name, const char *value)
{
    size_t digits = strspn(value, "0123456789");
    bool names = strncmp(name, "events_", 7) == 0 || strcmp(name, "counters") == 0 || strcmp(name, "out") == 0 ||
                 strcmp(name, "job") == 0;
    return digits > 0 && digits <= 18 && !value[digits] && !names ? json_integer(strtoll(value, NULL, 10))
                                                                  : json_of_text(value);
}

/* Adds the options, which are given as lines of the form BLAME_NAME=VALUE. */
static void json_add_options(json_t *json, const char *lines)
{
    const char prefix[] = "BLAME_";
    while (lines && *lines) {
        char name[64];
        size_t bytes = strcspn(lines, "\n"), length = strcspn(lines, "=\n");
        const char *value = lines + length + 1, *next = lines[bytes] ? lines + bytes + 1 : lines + bytes;
        if (length < bytes && length < sizeof name && strncmp(lines, prefix, strlen(prefix)) == 0) {
            size_t count = 0;
            for (size_t i = strlen(prefix); i < length; i++)
                name[count++] = (char)tolower((unsigned char)lines[i]);
            name[count] = '\0';
            char *copy = memory_check(strndup(value, bytes - length - 1));
            json_object_set_new(json, name, json_option_value(name, copy));
            free(copy);
        }
        lines = next;
    }
}

/* Returns an object made from lines of the form NAME=VALUE. There may be no lines. numbers: whether values of
 * digits become JSON numbers. */
static json_t *json_of_lines(const char *lines, bool numbers)
{
    json_t *json = json_object();
    while (lines && *lines) {
        size_t bytes = strcspn(lines, "\n"), length = strcspn(lines, "=\n");
        char *name = memory_text("%.*s", (int)length, lines), *clean = format_clean(name, true);
        char *value = length < bytes ? memory_text("%.*s", (int)(bytes - length - 1), lines + length + 1) : NULL;
        if (value)
            json_object_set_new(json, clean, numbers ? json_option_value(clean, value) : json_of_text(value));
        free(name);
        free(clean);
        free(value);
        lines += bytes + (lines[bytes] == '\n');
    }
    return json;
}

static json_t *json_options(const struct profile *profile)
{
    json_t *json = json_object();
    json_object_set_new(json, "out", json_null()); /* replaced below if the option was given */
    json_add_options(json, profile_text(profile, "options"));
    return json;
}

static json_t *json_samples(const struct ledger *ledger)
{
    json_t *dropped = json_object();
    for (size_t reason = 0; reason < PROFILE_DROP_REASONS; reason++) {
        char unnamed[32];
        snprintf(unnamed, sizeof unnamed, "reason %zu", reason);
        const char *name = profile_drop_name[reason] ? profile_drop_name[reason] : unnamed;
        if (ledger->dropped_by[reason])
            json_object_set_new(dropped, name, json_digits(ledger->dropped_by[reason]));
    }
    return OBJECT("{so so so}", "delivered", json_digits(ledger->delivered), "recorded", json_digits(ledger->recorded),
                  "dropped", dropped);
}

/* Returns the statistics of unwinding (docs/call-paths.md). */
static json_t *json_unwinding(const struct ledger *ledger)
{
    json_t *slow = json_object();
    for (size_t cause = 0; cause < RECIPE_CAUSES; cause++)
        if (ledger->slow_steps[cause])
            json_object_set_new(slow, recipe_cause_name((enum recipe_cause)cause),
                                json_digits(ledger->slow_steps[cause]));
    return OBJECT("{so so so so so}", "frames", json_digits(ledger->frames), "recipes_read",
                  json_digits(ledger->recipes_read), "decoded_steps", json_digits(ledger->decoded_steps), "slow_steps",
                  slow, "slow_reads", json_digits(ledger->slow_reads));
}

static json_t *json_conservation(const struct profile *profile, const struct rows *rows)
{
    struct conservation_law laws[CONSERVATION_LAWS];
    size_t count = conservation_check(profile, rows, laws);
    json_t *json = json_object();
    for (size_t i = 0; i < count; i++) {
        json_t *law = OBJECT("{ss so* so* so* so* sb}", "law", laws[i].statement, "left", json_real(laws[i].left),
                             "right", json_real(laws[i].right), "residual", json_real(laws[i].residual), "relative",
                             json_real(laws[i].relative), "exact", laws[i].exact);
        json_object_set_new(law, "ok", json_boolean(laws[i].ok));
        if (!laws[i].exact)
            json_object_set_new(law, "tolerance", json_real(laws[i].tolerance));
        if (!laws[i].ok)
            json_object_set_new(law, "explained_by", json_string(laws[i].cause));
        json_object_set_new(json, laws[i].name, law);
    }
    return json;
}

static json_t *json_modules(const struct profile *profile)
{
    json_t *json = json_array();
    for (size_t i = 0; i < profile->module_count; i++) {
        const struct profile_module *module = &profile->modules[i];
        char build_id[2 * sizeof module->build_id + 1] = "", bias[32];
        if (module->flags & PROFILE_MODULE_PYTHON)
            continue; /* the entry is one Python function, not a file */
        for (uint32_t byte = 0; byte < module->build_id_bytes; byte++)
            snprintf(build_id + 2 * byte, 3, "%02x", module->build_id[byte]);
        snprintf(bias, sizeof bias, "0x%" PRIx64, module->load_bias);
        json_array_append_new(
            json, OBJECT("{so ss ss}", "path", json_of_text(module->path), "build_id", build_id, "load_bias", bias));
    }
    return json;
}

static json_t *json_runtimes(const struct profile *profile)
{
    struct other_runtime found[OTHER_RUNTIMES_MOST];
    size_t count = other_runtimes(profile, found);
    json_t *json = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(
            json, OBJECT("{so so*}", "path", json_of_text(found[i].path), "seconds", json_real(found[i].seconds)));
    return json;
}

/* Returns the version of Python and, if Python functions are missing from contexts, the reason. */
static json_t *json_python(const char *said)
{
    const char *why = strchr(said, '\t');
    char *version = memory_text("%.*s", (int)strcspn(said, "\t"), said);
    json_t *json = OBJECT("{so so}", "version", json_of_text(version), "why_not", json_of_text(why ? why + 1 : NULL));
    free(version);
    return json;
}

static json_t *json_probe_location(const struct probe_location *location)
{
    return OBJECT("{so so so si}", "name", json_of_text(location->name), "function", json_of_text(location->function),
                  "file", json_of_text(location->file), "line", location->line);
}

/* Returns the pairs of phases or events that ended in the wrong order: "inner" was still open when "outer"
 * ended. Without "outer", "inner" ended without having begun. */
static json_t *json_misnested(const struct rows *rows)
{
    json_t *json = json_array();
    for (size_t i = 0; i < rows->misnested_count; i++) {
        const struct misnesting *wrong = &rows->misnested[i];
        json_array_append_new(json, OBJECT("{so so}", "inner", json_probe_location(&wrong->inner), "outer",
                                           *wrong->outer.name ? json_probe_location(&wrong->outer) : json_null()));
    }
    return json;
}

/* Returns the number of executions for each name of the profile. The caller frees the array. */
static uint64_t *json_count_executions(const struct profile *profile)
{
    uint64_t *executions = memory_array(profile->name_count, sizeof *executions);
    for (size_t i = 0; i < profile->probe_count; i++) {
        const struct merged_probe *probe = &profile->probes[i];
        const struct profile_name *name = profile_name_of(profile, &profile->nodes[probe->node]);
        if (name)
            executions[name - profile->names] += probe->probe.calls;
    }
    return executions;
}

/* Returns the names of phases, events and parameters. Their times are in phases.csv and profile.csv. */
static json_t *json_phases(const struct profile *profile)
{
    static const char *const kinds[] = {"phase", "event", "parameter"};
    json_t *json = json_array();
    uint64_t *executions = json_count_executions(profile);
    for (size_t i = 0; i < profile->name_count; i++) {
        const struct profile_name *name = &profile->names[i];
        if (name->kind < PROFILE_NODE_PHASE || name->kind > PROFILE_NODE_PARAMETER)
            continue;
        bool throttled = name->flags & PROFILE_NAME_THROTTLED;
        json_t *entry = OBJECT("{so ss so so}", "name", json_of_text(name->text), "kind",
                               kinds[name->kind - PROFILE_NODE_PHASE], "executions", json_digits(executions[i]),
                               "throttled", throttled ? json_digits(name->throttled_after) : json_null());
        if (name->flags & PROFILE_NAME_DYNAMIC)
            json_object_set_new(entry, "instances", json_digits(name->instances));
        json_array_append_new(json, entry);
    }
    free(executions);
    return json;
}

static void json_set_probes(json_t *json, const struct profile *profile, const struct rows *rows)
{
    json_t *counters = json_array();
    for (size_t i = 0; i < profile->counter_count; i++)
        json_array_append_new(counters, json_of_text(profile->counter_name[i]));
    json_object_set_new(json, "phases", json_phases(profile));
    json_object_set_new(json, "misnested", json_misnested(rows));
    json_object_set_new(json, "probes_lost", json_digits(profile->header.probes_lost));
    json_object_set_new(json, "counters", counters);
    json_object_set_new(json, "paused_s", json_seconds((double)profile->header.paused_ns));
    json_object_set_new(json, "pauses", json_digits(profile->header.pauses));
    json_object_set_new(json, "stopped_s", json_seconds(profile->stopped_ns));
    json_object_set_new(json, "ended_by_program", json_boolean(profile->header.ended_by_program));
}

static json_t *json_trace(const struct profile *profile)
{
    json_t *json = json_object();
    json_object_set_new(json, "samples", json_digits(profile->trace_samples));
    json_object_set_new(json, "thinned", json_digits(profile->header.trace_thinned));
    json_object_set_new(json, "bytes", json_digits(profile->trace_bytes));
    json_object_set_new(json, "limit", json_digits(profile->header.trace_limit));
    return json;
}

static json_t *json_unmeasured(const struct profile *profile)
{
    struct coverage coverage;
    coverage_of(profile, &coverage);
    json_t *causes = json_array();
    for (size_t i = 0; i < coverage.count; i++)
        json_array_append_new(causes, OBJECT("{ss so so*}", "what", coverage.loss[i].what, "cause",
                                             json_of_text(coverage.loss[i].cause), "seconds",
                                             json_real(coverage.loss[i].seconds)));
    return OBJECT("{so* so* so}", "seconds", json_real(coverage.lost_s), "of_s", json_real(coverage.whole_s), "causes",
                  causes);
}

static void json_set_losses(json_t *json, const struct profile *profile, const struct ledger *ledger)
{
    json_object_set_new(json, "unmeasured", json_unmeasured(profile));
    json_object_set_new(json, "unresolved_s", json_seconds(profile->unresolved_ns));
    json_object_set_new(json, "dropped_s", json_seconds(ledger->dropped_ns));
    json_object_set_new(json, "truncated_paths", json_digits(ledger->paths_truncated));
    json_object_set_new(json, "unrestored_calls", json_digits(ledger->unrestored_calls));
    json_object_set_new(json, "threads_untracked", json_digits(profile->header.threads_untracked));
    if (profile->header.tasks == 1)
        json_object_set_new(json, "creation",
                            OBJECT("{so so}", "walks", json_digits(ledger->creation_walks), "lost",
                                   json_digits(ledger->creations_lost)));
    json_object_set_new(json, "threads_without_timer",
                        OBJECT("{so so*}", "threads", json_digits(ledger->unsampled_threads), "seconds",
                               json_seconds(ledger->unsampled)));
    json_object_set_new(json, "unsignalled_s", json_seconds(ledger->unsignalled));
    json_object_set_new(json, "signal", json_digits(profile->header.sample_signal));
    json_object_set_new(json, "signals_taken", json_digits(profile->header.signals_taken));
}

static json_t *json_real_or_null(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

/* Returns the efficiencies; null for an unknown one. */
static json_t *json_efficiencies(const struct profile *profile)
{
    struct efficiencies made = efficiencies_of(profile);
    json_t *json = OBJECT("{so so so so so so}", "untold", json_of_text(made.why ? made.why : made.why_balance),
                          "runtime_s", json_real(made.runtime_s), "processes", json_digits(made.processes), "threads",
                          json_digits(made.threads), "useful_no_core", json_real_or_null(made.no_core),
                          "useful_blocked", json_real_or_null(made.blocked));
    for (int i = 0; i < EFFICIENCIES; i++)
        json_object_set_new(json, efficiency_key[i], json_real_or_null(made.of[i]));
    return json;
}

/* Returns the name of the job, its number of ranks (null if unknown), its efficiencies, and the state of each
 * rank. */
static json_t *json_job(const struct profile *profile)
{
    json_t *ranks = json_array();
    for (size_t i = 0; i < profile->rank_count; i++) {
        const struct profile_rank *rank = &profile->ranks[i];
        json_array_append_new(ranks, OBJECT("{so so ss so so so so}", "rank", json_integer(rank->rank), "process",
                                            json_integer(rank->process), "state", rank_state_name(rank), "node",
                                            json_of_text(rank->host), "binding", json_of_text(rank->binding), "why",
                                            json_of_text(rank->why), "pid", json_integer(rank->pid)));
    }
    return OBJECT("{so so so so so}", "name", json_of_text(profile_text(profile, "job")), "size",
                  profile->header.ranks ? json_digits(profile->header.ranks) : json_null(), "merged",
                  json_digits(profile->header.merged), "efficiencies", json_efficiencies(profile), "ranks", ranks);
}

/* Adds what is known about ranks. For a job: the job. For a rank: its number, the job's size, its node and
 * its allowed cores. If the ranks saw one another: for how long they waited for one another. */
static void json_set_rank(json_t *json, const struct profile *profile, const struct profile_sums *all)
{
    const char *rank = profile_text(profile, "rank"), *ranks = profile_text(profile, "ranks");
    const char *binding = profile_text(profile, "binding");
    if (profile->header.merged)
        json_object_set_new(json, "job", json_job(profile));
    if (profile->header.ranks_seen) {
        json_object_set_new(json, "ranks_seen", json_digits(profile->header.ranks_seen));
        json_object_set_new(json, "rank_idleness_s", json_seconds(all->rank_waited));
        json_object_set_new(json, "made_others_wait_s", json_seconds(all->rank_idle));
    }
    if (!rank)
        return;
    json_object_set_new(json, "rank", json_integer(strtol(rank, NULL, 10)));
    json_object_set_new(json, "size", ranks ? json_integer(strtol(ranks, NULL, 10)) : json_null());
    json_object_set_new(json, "node", json_of_text(profile_text(profile, "host")));
    json_object_set_new(json, "binding", binding ? json_of_text(binding) : json_null());
}

static void json_set_interpreters(json_t *json, const struct profile *profile)
{
    const char *r = profile_text(profile, "r"), *python_version = profile_text(profile, "python");
    if (r)
        json_object_set_new(json, "r", OBJECT("{so}", "why_not", json_of_text(*r ? r : NULL)));
    if (python_version)
        json_object_set_new(json, "python", json_python(python_version));
}

static void json_set_sums(json_t *json, const struct ledger *ledger, const struct rows *rows)
{
    json_object_set_new(json, "idle_total_s", json_seconds(ledger->idle));
    json_object_set_new(json, "idle_parked_s", json_seconds(ledger->parked));
    json_object_set_new(json, "idle_nobody_busy_s", json_seconds(ledger->idle_nobody_busy));
    json_object_set_new(json, "blocked_s", json_seconds(ledger->blocked));
    json_object_set_new(json, "mpi_wait_s", json_seconds(ledger->mpi_wait));
    json_object_set_new(json, "mpi_untold_s", json_real(mpi_untold_s(rows)));
    json_object_set_new(json, "no_core_s", json_seconds(ledger->no_core));
    json_object_set_new(json, "no_core_sampled_s", json_seconds(ledger->no_core_sampled));
    json_object_set_new(json, "stolen_s", json_seconds(ledger->stolen));
}

json_t *run_json(const struct profile *profile, const struct rows *rows)
{
    const struct profile_header *header = &profile->header;
    const char *version = profile_text(profile, "version");
    char id[PROFILE_IDENTITY_BYTES];
    struct ledger ledger;
    json_t *json = memory_check(json_object());
    ledger_sum(profile, &ledger);
    json_object_set_new(json, "version", json_of_text(version ? version : BLAME_VERSION));
    profile_identity(profile, id);
    json_object_set_new(json, "id", json_string(id));
    json_object_set_new(json, "command", json_of_text(profile_text(profile, "command")));
    json_object_set_new(json, "host", json_of_text(profile_text(profile, "host")));
    json_object_set_new(json, "pid", json_integer(header->pid));
    json_object_set_new(json, "start_time", json_start_time(header->start_realtime_ns));
    json_object_set_new(json, "wall_s", json_real(profile_wall_s(profile)));
    json_object_set_new(json, "before_start_s", json_seconds((double)header->before_start_ns));
    json_object_set_new(json, "kernel_s", json_seconds((double)header->kernel_ns));
    json_object_set_new(json, "page_faults", json_digits(header->page_faults));
    json_object_set_new(json, "threads_max", json_digits(header->threads_max));
    json_object_set_new(json, "threads", json_digits(profile->thread_count));
    json_object_set_new(json, "cores", json_digits(header->cores));
    json_object_set_new(json, "cpu_model", json_of_text(profile_text(profile, "cpu_model")));
    json_object_set_new(json, "machine", json_of_lines(profile_text(profile, "machine"), true));
    json_object_set_new(json, "environment", json_of_lines(profile_text(profile, "environment"), false));
    json_object_set_new(json, "meta", json_of_lines(profile_text(profile, "meta"), false));
    json_set_rank(json, profile, rows->row[0].inclusive);
    json_object_set_new(json, "regions", json_digits(header->regions));
    json_object_set_new(json, "options", json_options(profile));
    if (profile_text(profile, "sample"))
        json_object_set_new(json, "sample", json_of_text(profile_text(profile, "sample")));
    json_object_set_new(json, "runtime_version", json_of_text(profile_text(profile, "runtime")));
    json_object_set_new(json, "runtime_path", json_of_text(profile_text(profile, "runtime_path")));
    json_object_set_new(json, "runtime_reached", json_of_text(profile_text(profile, "runtime_reached")));
    if (profile_text(profile, "second_runtime"))
        json_object_set_new(json, "second_runtime_version", json_of_text(profile_text(profile, "second_runtime")));
    json_object_set_new(json, "other_runtimes", json_runtimes(profile));
    json_set_interpreters(json, profile);
    json_object_set_new(json, "rate_least", json_real(profile_least_rate(profile)));
    json_object_set_new(json, "samples", json_samples(&ledger));
    json_object_set_new(json, "unwinding", json_unwinding(&ledger));
    json_set_sums(json, &ledger, rows);
    json_object_set_new(json, "conservation", json_conservation(profile, rows));
    json_set_losses(json, profile, &ledger);
    json_set_probes(json, profile, rows);
    json_object_set_new(json, "finished", json_boolean(header->finished));
    json_object_set_new(json, "killed", json_boolean(!header->finished && !header->snapshot));
    if (header->snapshot)
        json_object_set_new(json, "snapshot", json_true());
    if (header->traced && !header->merged)
        json_object_set_new(json, "trace", json_trace(profile));
    json_object_set_new(json, "modules", json_modules(profile));
    return json;
}

void write_run_json(FILE *out, const struct profile *profile, const struct report_tables *tables)
{
    json_t *json = run_json(profile, tables->rows), *compilers = json_array();
    for (size_t i = 0; i < tables->compiler_count; i++)
        json_array_append_new(compilers, json_of_text(tables->compiler[i]));
    json_object_set_new(json, "compilers", compilers);
    if (json_dumpf(json, out, JSON_INDENT(2) | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(12)) != 0 && !ferror(out))
        memory_check(NULL);
    putc('\n', out);
    json_decref(json);
}
