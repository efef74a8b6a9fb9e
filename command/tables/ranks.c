#include "command/tables/ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/text/memory.h"

/* maximum number of ranks whose problem is described; the other ranks are only counted */
#define MOST_DESCRIBED 5

bool rank_counts(const struct profile_rank *rank)
{
    return rank->state <= PROFILE_RANK_OPEN;
}

void rank_name(const struct profile_rank *rank, char *text, size_t bytes)
{
    if (rank->rank == PROFILE_RANK_UNKNOWN)
        snprintf(text, bytes, "?");
    else if (rank->process)
        snprintf(text, bytes, "%u.%u", rank->rank, rank->process);
    else
        snprintf(text, bytes, "%u", rank->rank);
}

const char *rank_state_name(const struct profile_rank *rank)
{
    static const char *const names[] = {"whole", "open", "damaged", "missing", "foreign"};
    return rank->state < sizeof names / sizeof *names ? names[rank->state] : "damaged";
}

static int ranks_compare_hosts(const void *left, const void *right)
{
    const struct profile_rank *const *a = left, *const *b = right;
    return strcmp((*a)->host, (*b)->host);
}

/* Returns the ranks with measurements, sorted by host. The caller frees the array. */
static const struct profile_rank **ranks_sorted_by_host(const struct profile *profile, size_t *count)
{
    const struct profile_rank **rank = memory_array(profile->rank_count, sizeof *rank);
    *count = 0;
    for (size_t i = 0; i < profile->rank_count; i++)
        if (rank_counts(&profile->ranks[i]))
            rank[(*count)++] = &profile->ranks[i];
    qsort(rank, *count, sizeof *rank, ranks_compare_hosts);
    return rank;
}

size_t ranks_nodes(const struct profile *profile)
{
    size_t count, nodes = 0;
    const struct profile_rank **rank = ranks_sorted_by_host(profile, &count);
    for (size_t i = 0; i < count; i++)
        nodes += i == 0 || strcmp(rank[i - 1]->host, rank[i]->host) != 0;
    free(rank);
    return nodes;
}

bool ranks_saw_each_other(const struct profile *profile)
{
    size_t count, end;
    const struct profile_rank **rank = ranks_sorted_by_host(profile, &count);
    bool all = count > 1 && count == profile->rank_count;
    for (size_t i = 0; i < count && all; i = end) {
        for (end = i; end < count && strcmp(rank[end]->host, rank[i]->host) == 0;)
            end++;
        for (size_t here = i; here < end; here++)
            all &= rank[here]->state == PROFILE_RANK_WHOLE && rank[here]->ranks_seen == end - i;
    }
    free(rank);
    return all;
}

static int ranks_compare_bindings(const void *left, const void *right)
{
    const struct profile_rank *const *a = left, *const *b = right;
    int hosts = ranks_compare_hosts(left, right);
    return hosts ? hosts : strcmp((*a)->binding, (*b)->binding);
}

struct ranks_crowd ranks_crowd(const struct profile *profile)
{
    struct ranks_crowd most = {0}, here = {0};
    size_t count;
    const struct profile_rank **rank = ranks_sorted_by_host(profile, &count);
    qsort(rank, count, sizeof *rank, ranks_compare_bindings);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || !*rank[i]->binding || ranks_compare_bindings(&rank[i - 1], &rank[i]) != 0)
            here = (struct ranks_crowd){.cores = rank[i]->cores};
        here.ranks++;
        here.threads += rank[i]->threads_max;
        if (most.ranks == 0 || here.threads * most.cores > most.threads * here.cores)
            most = here;
    }
    free(rank);
    return most;
}

static void ranks_put_range(char *text, size_t bytes, uint32_t least, uint32_t most, const char *what)
{
    if (least == most)
        snprintf(text, bytes, "%u %s%s", most, what, most == 1 ? "" : "s");
    else
        snprintf(text, bytes, "%u to %u %ss", least, most, what);
}

bool ranks_size(const struct profile *profile, char *text, size_t bytes)
{
    char threads[64], cores[64];
    const struct profile_header *header = &profile->header;
    uint32_t threads_least = header->threads_max, cores_least = header->cores;
    size_t nodes = ranks_nodes(profile);
    for (size_t i = 0; i < profile->rank_count; i++) {
        const struct profile_rank *rank = &profile->ranks[i];
        if (rank_counts(rank) && rank->threads_max < threads_least)
            threads_least = rank->threads_max;
        if (rank_counts(rank) && rank->cores < cores_least)
            cores_least = rank->cores;
    }
    ranks_put_range(threads, sizeof threads, threads_least, header->threads_max, "thread");
    ranks_put_range(cores, sizeof cores, cores_least, header->cores, "core");
    snprintf(text, bytes, "%u rank%s on %zu node%s, %s on %s each", header->merged, header->merged == 1 ? "" : "s",
             nodes, nodes == 1 ? "" : "s", threads, cores);
    return header->merged > 0;
}

void rank_note(const struct profile *profile, char *text, size_t bytes)
{
    const char *rank = profile_text(profile, "rank"), *ranks = profile_text(profile, "ranks");
    const char *binding = profile_text(profile, "binding");
    text[0] = '\0';
    if (!rank)
        return;
    size_t used = (size_t)snprintf(text, bytes, ", rank %.12s%s%.12s", rank, ranks ? " of " : "", ranks ? ranks : "");
    if (binding && used < bytes)
        snprintf(text + used, bytes - used, ", bound to core%s %.48s", strpbrk(binding, "-,") ? "s" : "", binding);
}

char *ranks_problems(const struct profile *profile)
{
    char *text = NULL, name[32];
    size_t told = 0, more = 0;
    FILE *out = memory_stream(&text);
    for (size_t i = 0; i < profile->rank_count; i++) {
        const struct profile_rank *rank = &profile->ranks[i];
        if (rank->state == PROFILE_RANK_WHOLE)
            continue;
        if (told == MOST_DESCRIBED) {
            more++;
            continue;
        }
        rank_name(rank, name, sizeof name);
        fprintf(out, "%srank %s: %s", told++ ? "; " : "", name, rank->why);
    }
    if (more)
        fprintf(out, "; and %zu more (see --view ranks)", more);
    memory_stream_close(out);
    if (told)
        return text;
    free(text);
    return NULL;
}
