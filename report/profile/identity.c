#include "report/profile/identity.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "report/text/memory.h"

static const char *text_or_nothing(const struct profile *profile, const char *key)
{
    const char *text = profile_text(profile, key);
    return text ? text : "";
}

/* The one with the lowest number: its file may have come from anywhere, and others may join later. */
static const struct profile_rank *first_rank(const struct profile *job)
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

/* The options have the seed, which no two runs share that were not told to. */
void profile_identity(const struct profile *profile, char text[PROFILE_IDENTITY_BYTES])
{
    const struct profile_header *header = &profile->header;
    const struct profile_rank *rank = header->merged ? first_rank(profile) : NULL;
    const char *host = rank ? rank->host : text_or_nothing(profile, "host");
    char *all = memory_text("%.*s\n%s\n%" PRId64 "\n%" PRIu64 "\n%s\n%s\n%s\n%" PRIu64, (int)sizeof rank->host, host,
                            text_or_nothing(profile, "job_identity"), header->start_realtime_ns,
                            header->merged ? (uint64_t)0 : header->tool_start_ns, text_or_nothing(profile, "options"),
                            text_or_nothing(profile, "command"), header->merged ? "job" : text_or_nothing(profile, "rank"),
                            (uint64_t)(rank ? rank->pid : header->pid));
    snprintf(text, PROFILE_IDENTITY_BYTES, "%016" PRIx64, hash_bytes(all, strlen(all)));
    free(all);
}
