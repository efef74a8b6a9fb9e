#include "report/profile/job_records.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/text/memory.h"

#define MOST_MISSING 1024 /* that have a record each */

struct profile_rank *job_add_record(struct profile *job, uint32_t rank, enum profile_rank_state state,
                                    const char *why)
{
    size_t room = job->rank_count; /* of two to the power of something */
    if ((room & (room - 1)) == 0)
        job->ranks = memory_check(reallocarray(job->ranks, room ? 2 * room : 1, sizeof *job->ranks));
    struct profile_rank *record = &job->ranks[job->rank_count++];
    *record = (struct profile_rank){.rank = rank, .state = state};
    snprintf(record->why, sizeof record->why, "%s", why);
    return record;
}

uint32_t job_rank_by_name(const char *path, uint32_t *process)
{
    const char *name = strstr(strrchr(path, '/') ? strrchr(path, '/') : path, "rank-");
    unsigned rank, number = 0;
    bool known = name && sscanf(name, "rank-%u.%u", &rank, &number) >= 1;
    *process = known ? number : 0;
    return known ? rank : PROFILE_RANK_UNKNOWN;
}

static int compare_records(const void *left, const void *right)
{
    const struct profile_rank *a = left, *b = right;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return (a->process > b->process) - (a->process < b->process);
}

void job_sort_records(struct profile *profile)
{
    uint64_t *now = memory_array(profile->rank_count + 1, sizeof *now);
    for (size_t i = 0; i < profile->rank_count; i++)
        profile->ranks[i].reserved = (uint32_t)i + 1; /* its number before */
    qsort(profile->ranks, profile->rank_count, sizeof *profile->ranks, compare_records);
    for (size_t i = 0; i < profile->rank_count; i++) {
        now[profile->ranks[i].reserved] = i + 1;
        profile->ranks[i].reserved = 0;
    }
    for (size_t i = 0; i < profile->thread_count; i++)
        profile->threads[i].rank_record = now[profile->threads[i].rank_record];
    for (size_t i = 0; i < profile->timeline.lane_count; i++)
        profile->timeline.lanes[i].rank_record = (uint32_t)now[profile->timeline.lanes[i].rank_record];
    free(now);
}

void job_add_missing(struct profile *profile)
{
    size_t there = profile->rank_count, missing = 0;
    for (size_t i = 0, rank = 0; rank < profile->header.ranks && missing < MOST_MISSING; rank++) {
        while (i < there && profile->ranks[i].rank < rank)
            i++;
        if (i < there && profile->ranks[i].rank == rank)
            continue;
        job_add_record(profile, (uint32_t)rank, PROFILE_RANK_MISSING, "it left no measurement");
        missing++;
    }
}
