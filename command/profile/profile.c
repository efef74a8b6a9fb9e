#include "command/profile/profile.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "cct/profile_tree.h"
#include "command/profile/balance_record.h"
#include "command/profile/sums.h"
#include "command/profile/timeline.h"
#include "command/text/memory.h"

const char *const profile_drop_name[PROFILE_DROP_REASONS] = {
    [PROFILE_DROP_IN_TOOL] = "in tool", [PROFILE_DROP_NO_MEMORY] = "no memory",    [PROFILE_DROP_STOPPING] = "stopping",
    [PROFILE_DROP_NO_PATH] = "no path", [PROFILE_DROP_OVERLOAD] = "overload",      [PROFILE_DROP_CUT_OFF] = "cut off",
    [PROFILE_DROP_PAUSED] = "paused",   [PROFILE_DROP_FAULT] = "fault in handler",
};

const struct profile_name *profile_name_of(const struct profile *profile, const struct merged_node *node)
{
    if (node->kind == PROFILE_NODE_INSTANCE)
        node = &profile->nodes[node->parent];
    bool named = node->kind >= PROFILE_NODE_PHASE && node->kind <= PROFILE_NODE_PARAMETER && node->key > 0 &&
                 node->key <= profile->name_count;
    return named ? &profile->names[node->key - 1] : NULL;
}

uint64_t profile_thread_end_ns(const struct profile_thread *thread)
{
    uint64_t end = thread->end_ns ? thread->end_ns : thread->last_ns;
    return end > thread->begin_ns ? end : thread->begin_ns;
}

bool profile_thread_counts(const struct profile *profile, const struct profile_thread *thread)
{
    bool beside = thread->kind == PROFILE_THREAD_OTHER && profile_text(profile, "runtime");
    return thread->kind != PROFILE_THREAD_HELPER && !beside;
}

double profile_wall_s(const struct profile *profile)
{
    uint64_t start = profile->header.start_ns, end = profile->header.end_ns;
    for (size_t i = 0; i < profile->thread_count && profile->header.end_ns == 0; i++) {
        uint64_t last = profile_thread_end_ns(&profile->threads[i]);
        end = last > end ? last : end;
    }
    return end > start ? (double)(end - start) * 1e-9 : 0;
}

double profile_thread_life_ns(const struct profile *profile, const struct profile_thread *thread)
{
    uint64_t begin = thread->begin_ns, end = profile_thread_end_ns(thread);
    if (begin < profile->header.tool_start_ns)
        begin = profile->header.tool_start_ns;
    return end > begin ? (double)(end - begin) : 0;
}

double profile_thread_sampled_ns(const struct profile *profile, const struct profile_thread *thread)
{
    return thread->timer_failed ? 0 : fmax(0, profile_thread_life_ns(profile, thread) - thread->unsignalled_ns);
}

double profile_least_rate(const struct profile *profile)
{
    uint64_t longest_ns = 0;
    for (size_t i = 0; i < profile->thread_count; i++)
        if (profile->threads[i].period_ns > longest_ns)
            longest_ns = profile->threads[i].period_ns;
    return longest_ns > profile->header.period_ns ? 1e9 / (double)longest_ns : profile->header.rate;
}

double profile_stopped_beside_ns(const struct profile *profile)
{
    double ns = profile->stopped_ns;
    for (size_t i = 0; i < profile->node_count; i++)
        if (profile->nodes[i].kind == PROFILE_NODE_PSEUDO && profile->nodes[i].key == PROFILE_PSEUDO_STOPPED)
            ns -= profile->nodes[i].metric.inverse_busy;
    return fmax(0, ns);
}

void profile_free(struct profile *profile)
{
    if (!profile)
        return;
    free(profile->path);
    free(profile->nodes);
    free(profile->threads);
    free(profile->tree_sets);
    free(profile->modules);
    free(profile->ranks);
    free(profile->spreads);
    free(profile->balances);
    free(profile->wakes);
    free(profile->locks);
    free(profile->text);
    free(profile->names);
    free(profile->probes);
    free(profile->counters);
    free(profile->counter_text);
    timeline_free(&profile->timeline);
    free(profile);
}

const char *profile_text_next(const struct profile *profile, const char *key, const char *after)
{
    const char *at = after ? after + strlen(after) + 1 : profile->text;
    const char *end = profile->text + profile->text_bytes;
    /* A zero byte follows the text, so every string ends at `end` or earlier. */
    while (at < end) {
        const char *value = at + strlen(at) + 1;
        if (value > end)
            break;
        if (*at && strcmp(at, key) == 0)
            return value;
        at = value < end ? value + strlen(value) + 1 : end;
    }
    return NULL;
}

const char *profile_text(const struct profile *profile, const char *key)
{
    return profile_text_next(profile, key, NULL);
}

bool profile_without_openmp(const struct profile *profile)
{
    return profile->header.merged ? profile->header.without_team : !profile_text(profile, "runtime");
}

void profile_describe_threads(const struct profile *profile, char *to, size_t bytes)
{
    const struct profile_header *header = &profile->header;
    char others[40] = "";
    if (profile->others_max)
        snprintf(others, sizeof others, " and %u other%s", profile->others_max, profile->others_max == 1 ? "" : "s");
    snprintf(to, bytes, "%s%u %sthread%s%s", header->threads_untracked ? "at least " : "", header->threads_max,
             *others ? "OpenMP " : "", header->threads_max == 1 ? "" : "s", others);
}

const char *profile_environment(const struct profile *profile)
{
    return profile_without_openmp(profile) ? "no OpenMP" : profile->header.environment == 1 ? "shared" : "dedicated";
}

uint32_t profile_program(const struct profile *profile)
{
    for (uint32_t i = 0; i < profile->module_count; i++)
        if (profile->modules[i].flags & PROFILE_MODULE_EXECUTABLE)
            return i + 1;
    return 0;
}

/* ---- the identity of a run ---- */

static const char *profile_identity_text(const struct profile *profile, const char *key)
{
    const char *text = profile_text(profile, key);
    return text ? text : "";
}

/* Returns the record with the smallest rank number among the ranks whose files were merged. The result does
 * not depend on the order in which the files are listed. */
static const struct profile_rank *profile_first_rank(const struct profile *job)
{
    const struct profile_rank *first = NULL;
    for (size_t i = 0; i < job->rank_count; i++) {
        const struct profile_rank *rank = &job->ranks[i];
        if (rank->state <= PROFILE_RANK_OPEN &&
            (!first || rank->rank < first->rank || (rank->rank == first->rank && rank->process < first->process)))
            first = rank;
    }
    return first;
}

/* Copies of a run's files have the same identity, because only the contents of the files count. The options
 * contain the seed, which differs between runs unless the user set it. */
void profile_identity(const struct profile *profile, char text[PROFILE_IDENTITY_BYTES])
{
    const struct profile_header *header = &profile->header;
    const struct profile_rank *rank = header->merged ? profile_first_rank(profile) : NULL;
    const char *host = rank ? rank->host : profile_identity_text(profile, "host");
    char *all = memory_text("%.*s\n%s\n%" PRId64 "\n%" PRIu64 "\n%s\n%s\n%s\n%" PRIu64, (int)sizeof rank->host, host,
                            profile_identity_text(profile, "job_identity"), header->start_realtime_ns,
                            header->merged ? (uint64_t)0 : header->tool_start_ns,
                            profile_identity_text(profile, "options"), profile_identity_text(profile, "command"),
                            header->merged ? "job" : profile_identity_text(profile, "rank"),
                            (uint64_t)(rank ? rank->pid : header->pid));
    snprintf(text, PROFILE_IDENTITY_BYTES, "%016" PRIx64, hash_bytes(all, strlen(all)));
    free(all);
}
