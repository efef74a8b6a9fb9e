#include "command/profile/job_reference.h"

#include <stdlib.h>
#include <string.h>

#include "command/profile/read.h"
#include "command/text/memory.h"

static const char *job_reference_text(const struct profile *profile, const char *key)
{
    const char *text = profile_text(profile, key);
    return text ? text : "";
}

void job_reference_take(struct job_reference *like, const struct profile *rank)
{
    like->sample = memory_text("%s", job_reference_text(rank, "sample"));
    like->counters = memory_text("%s", job_reference_text(rank, "counters"));
    like->clock = rank->header.clock;
    like->known = true;
}

const char *job_why_foreign(const struct job_reference *like, const struct profile *rank)
{
    const char *identity = profile_text(rank, "job_identity");
    if (like->identity && !identity)
        return "the file does not say to which job it belongs: there was no room, or the process was killed at its "
               "start";
    if (like->identity && strcmp(identity, like->identity) != 0)
        return "it belongs to another job";
    if (rank->header.merged || rank->header.part)
        return "it was merged from several ranks, whose own files are counted instead";
    if (!like->known)
        return NULL;
    if (strcmp(job_reference_text(rank, "sample"), like->sample) != 0 || rank->header.clock != like->clock)
        return "it was measured with different settings (BLAME_SAMPLE, BLAME_CLOCK)";
    if (strcmp(job_reference_text(rank, "counters"), like->counters) != 0)
        return "it has different counters (BLAME_COUNTERS)";
    return NULL;
}

void job_reference_find(struct job_reference *like, const char *const *paths, size_t count)
{
    char error[512];
    for (size_t i = 0; i < count && !like->known; i++) {
        struct profile *rank = profile_read(paths[i], error, sizeof error);
        if (rank && !job_why_foreign(like, rank))
            job_reference_take(like, rank);
        profile_free(rank);
    }
}

void job_reference_free(struct job_reference *like)
{
    free(like->sample);
    free(like->counters);
}
