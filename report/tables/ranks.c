#include "report/tables/ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/text/memory.h"

#define TOLD 5 /* ranks of which it is said what is wrong; the others are counted */

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

static int compare_hosts(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

static size_t count_nodes(const struct profile *profile)
{
    const char **host = memory_array(profile->rank_count, sizeof *host);
    size_t count = 0, nodes = 0;
    for (size_t i = 0; i < profile->rank_count; i++)
        if (rank_counts(&profile->ranks[i]))
            host[count++] = profile->ranks[i].host;
    qsort(host, count, sizeof *host, compare_hosts);
    for (size_t i = 0; i < count; i++)
        nodes += i == 0 || strcmp(host[i - 1], host[i]) != 0;
    free(host);
    return nodes;
}

void rank_note(const struct profile *profile, char *text, size_t bytes)
{
    const char *rank = profile_text(profile, "rank"), *ranks = profile_text(profile, "ranks");
    const char *binding = profile_text(profile, "binding");
    text[0] = '\0';
    if (profile->header.merged) {
        size_t nodes = count_nodes(profile);
        snprintf(text, bytes, " each, %u rank%s on %zu node%s", profile->header.merged,
                 profile->header.merged == 1 ? "" : "s", nodes, nodes == 1 ? "" : "s");
        return;
    }
    if (!rank)
        return;
    size_t used =
        (size_t)snprintf(text, bytes, ", rank %.12s%s%.12s", rank, ranks ? " of " : "", ranks ? ranks : "");
    if (binding && used < bytes)
        snprintf(text + used, bytes - used, ", bound to core%s %.48s", strpbrk(binding, "-,") ? "s" : "",
                 binding);
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
        if (told == TOLD) {
            more++;
            continue;
        }
        rank_name(rank, name, sizeof name);
        fprintf(out, "%srank %s: %s", told++ ? "; " : "", name, rank->why);
    }
    if (more)
        fprintf(out, "; and %zu more (--view ranks)", more);
    memory_stream_close(out);
    if (told)
        return text;
    free(text);
    return NULL;
}
