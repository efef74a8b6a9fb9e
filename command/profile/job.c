#include "command/profile/job.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cct/sums.h"
#include "command/profile/job_keys.h"
#include "command/profile/job_reference.h"
#include "command/profile/merge.h"
#include "command/profile/node_tree.h"
#include "command/profile/probes.h"
#include "command/profile/profile.h"
#include "command/profile/read.h"
#include "command/profile/spread.h"
#include "command/profile/timeline_job.h"
#include "command/profile/wakes.h"
#include "command/text/memory.h"

/* ---- records of ranks ---- */

/* Records of a job's ranks. A rank whose file is missing or unusable has a record that says why, without
 * sums. */

#define MOST_MISSING 1024 /* maximum number of missing ranks that get a record */

/* Adds a record for a rank and returns it. The pointer is valid until the next call. */
static struct profile_rank *job_add_record(struct profile *job, uint32_t rank, enum profile_rank_state state,
                                           const char *why)
{
    size_t room = job->rank_count; /* the list is full whenever its count is a power of two */
    if ((room & (room - 1)) == 0)
        job->ranks = memory_check(reallocarray(job->ranks, room ? 2 * room : 1, sizeof *job->ranks));
    struct profile_rank *record = &job->ranks[job->rank_count++];
    *record = (struct profile_rank){.rank = rank, .state = state};
    snprintf(record->why, sizeof record->why, "%s", why);
    return record;
}

/* Reads the rank and process numbers from the name of a file that cannot be read. */
static uint32_t job_rank_by_name(const char *path, uint32_t *process)
{
    const char *name = strstr(strrchr(path, '/') ? strrchr(path, '/') : path, "rank-");
    unsigned rank, number = 0;
    bool known = name && sscanf(name, "rank-%u.%u", &rank, &number) >= 1;
    *process = known ? number : 0;
    return known ? rank : PROFILE_RANK_UNKNOWN;
}

static int job_compare_rank_records(const void *left, const void *right)
{
    const struct profile_rank *a = left, *b = right;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return (a->process > b->process) - (a->process < b->process);
}

/* Sorts the rank records by rank. Updates the threads and lanes, which refer to the records by index. */
static void job_sort_records(struct profile *profile)
{
    uint64_t *now = memory_array(profile->rank_count + 1, sizeof *now);
    for (size_t i = 0; i < profile->rank_count; i++)
        profile->ranks[i].reserved = (uint32_t)i + 1; /* index before sorting, plus 1 */
    qsort(profile->ranks, profile->rank_count, sizeof *profile->ranks, job_compare_rank_records);
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

/* Adds records for the missing ranks. The records must be sorted by rank. */
static void job_add_missing(struct profile *profile)
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

/* ---- the ranks' files ---- */

/* The clocks of the ranks are unrelated, so the job has a clock of its own, in ns. On this clock, the rank of
 * the first file starts at START_NS, which leaves room for ranks that started earlier. */
#define START_NS       (1000 * 86400 * (uint64_t)1000000000)
#define JOINED_AT_ONCE 10000 /* minimum number of new probes and counters before the lists are sorted again */

struct job {
    struct profile *profile;
    struct node_tree tree;
    size_t thread_room, lock_room;
    size_t joined; /* number of probes and counters after the lists were last sorted */
    struct pair_map locks;
    struct spread_sums spreads;
    struct timeline_join timeline;
    int64_t start_realtime_ns; /* time of day at START_NS, in ns since the epoch */
    bool based;                /* whether header and texts have been taken from the first rank */
    struct job_reference like;
    bool of_parts; /* whether each file is a merged part of the job instead of one rank */
};

/* Converts a time from the rank's clock to the job's. */
static uint64_t job_time_of(const struct job *job, const struct profile *rank, uint64_t ns)
{
    /* 128 bits, because the times in a damaged file may have any value */
    __int128 late = (__int128)rank->header.start_realtime_ns - job->start_realtime_ns;
    __int128 shifted_ns = START_NS + late + (int64_t)(ns - rank->header.start_ns);
    return shifted_ns > INT64_MAX ? INT64_MAX : shifted_ns > 0 ? (uint64_t)shifted_ns : 0;
}

static void job_copy_rank_text(char *to, size_t bytes, const char *from)
{
    snprintf(to, bytes, "%s", from ? from : "");
}

static void job_add_part_records(struct job *job, const struct profile *part)
{
    for (size_t i = 0; i < part->rank_count; i++) {
        struct profile_rank *record = job_add_record(job->profile, 0, PROFILE_RANK_WHOLE, "");
        *record = part->ranks[i];
        if (record->state > PROFILE_RANK_OPEN)
            continue;
        record->begin_ns = job_time_of(job, part, record->begin_ns);
        record->end_ns = job_time_of(job, part, record->end_ns);
    }
}

static void job_add_rank_record(struct job *job, const struct profile *rank, uint64_t end_ns, bool gone)
{
    const struct profile_header *header = &rank->header;
    struct profile_rank *record = job_add_record(job->profile, header->rank, PROFILE_RANK_WHOLE, "");
    if (!header->finished) {
        record->state = PROFILE_RANK_OPEN;
        job_copy_rank_text(
            record->why, sizeof record->why,
            gone ? "it had not ended normally: it was killed, or replaced itself (exec)"
                 : "it had not ended normally: it was still running, was killed, or replaced itself (exec)");
    }
    record->process = header->process;
    record->pid = header->pid;
    record->threads = (uint32_t)rank->thread_count;
    record->threads_max = header->threads_max;
    record->cores = header->cores;
    record->begin_ns = job_time_of(job, rank, header->start_ns);
    record->end_ns = end_ns;
    for (size_t i = 0; i < rank->thread_count; i++) {
        const struct profile_thread *thread = &rank->threads[i];
        record->samples += thread->recorded;
        record->work += thread->work;
        record->overhead += thread->overhead;
        record->lock_wait += thread->lock_wait;
        record->idle += thread->idle;
        record->no_core += thread->no_core;
        record->blocked += thread->blocked;
        record->mpi_wait += thread->mpi_wait;
    }
    record->ranks_seen = header->ranks_seen;
    for (size_t i = 0; i < rank->node_count; i++) {
        record->rank_idle += rank->nodes[i].metric.rank_waited;
        record->made_wait += rank->nodes[i].metric.rank_idle;
    }
    job_copy_rank_text(record->host, sizeof record->host, profile_text(rank, "host"));
    job_copy_rank_text(record->binding, sizeof record->binding, profile_text(rank, "binding"));
}

/* Adds a rank's threads to the job. Returns the latest end of a thread, converted to the job's clock. */
static uint64_t job_add_threads(struct job *job, const struct profile *rank)
{
    struct profile *to = job->profile;
    uint64_t last_ns = 0;
    for (size_t i = 0; i < rank->thread_count; i++) {
        struct profile_thread thread = rank->threads[i];
        uint64_t begin_ns = thread.begin_ns, end_ns = profile_thread_end_ns(&thread);
        if (begin_ns < rank->header.tool_start_ns)
            begin_ns = rank->header.tool_start_ns;
        thread.begin_ns = job_time_of(job, rank, begin_ns);
        thread.end_ns = thread.last_ns = job_time_of(job, rank, end_ns < begin_ns ? begin_ns : end_ns);
        thread.tree = 0; /* unknown, because the job's tree is merged from all ranks */
        memset(thread.counters, 0, sizeof thread.counters);
        thread.rank_record = to->rank_count + (job->of_parts ? thread.rank_record : 1);
        memory_grow(&to->threads, &job->thread_room, to->thread_count, sizeof *to->threads);
        to->threads[to->thread_count++] = thread;
        last_ns = thread.end_ns > last_ns ? thread.end_ns : last_ns;
    }
    return last_ns;
}

static void job_add_lock(struct job *job, const struct job_keys *keys, const struct profile_lock *from)
{
    struct profile *to = job->profile;
    struct profile_lock lock = *from;
    lock.key = job_key_of(keys, PROFILE_NODE_LOCK, from->key);
    lock.initialiser = job_key_address(keys, from->initialiser);
    lock.variable = job_key_address(keys, from->variable);
    uint32_t *slot = pair_map_slot(&job->locks, lock.key, lock.initialiser);
    if (*slot == PAIR_MAP_NEW) {
        memory_grow(&to->locks, &job->lock_room, to->lock_count, sizeof *to->locks);
        *slot = (uint32_t)to->lock_count++;
        to->locks[*slot] = lock;
        return;
    }
    struct profile_lock *known = &to->locks[*slot];
    known->variable = known->variable ? known->variable : lock.variable;
    known->sum_ns += lock.sum_ns;
    known->waits += lock.waits;
    known->longest_ns = fmax(known->longest_ns, lock.longest_ns);
}

/* Adds a rank's nodes to the job's tree. A node's idleness is T x inverse_busy minus own time. T, the number
 * of threads, may differ between rank and job. This function therefore multiplies inverse_busy by the rank's
 * T, and job_divide_idleness() divides the sums by the job's T when all ranks are added. */
static void job_add_nodes(struct job *job, const struct job_keys *keys, const struct profile *rank, uint32_t *node_map)
{
    for (size_t i = 0; i < rank->node_count; i++) {
        const struct merged_node *node = &rank->nodes[i];
        struct profile_sums sums = node->metric;
        node_map[i] =
            i ? node_tree_child(&job->tree, node_map[node->parent], node->kind, job_key_of(keys, node->kind, node->key))
              : 0;
        if (node->kind != PROFILE_NODE_WAITERS)
            sums.inverse_busy *= rank->header.threads_max;
        struct merged_node *to = &job->profile->nodes[node_map[i]];
        to->threads |= node->threads;
        profile_sums_add(&to->metric, &sums);
    }
}

static void job_divide_idleness(struct profile *profile)
{
    for (size_t i = 0; i < profile->node_count; i++)
        if (profile->nodes[i].kind != PROFILE_NODE_WAITERS)
            profile->nodes[i].metric.inverse_busy /= profile->header.threads_max;
    profile->header.before_inverse_busy_ns /= profile->header.threads_max;
}

/* Adds a rank's probes to the job. All threads of the rank count as one tree. */
static void job_add_probes(struct job *job, const struct profile *rank, const uint32_t *node_map)
{
    struct profile *to = job->profile;
    size_t count = to->probe_count + rank->probe_count;
    if (rank->probe_count)
        to->probes = memory_check(reallocarray(to->probes, count, sizeof *to->probes));
    for (size_t i = 0; i < rank->probe_count; i++) {
        struct merged_probe *probe = &to->probes[to->probe_count++];
        *probe = rank->probes[i];
        probe->node = node_map[probe->node];
        probe->tree = (uint32_t)to->rank_count + (job->of_parts ? probe->tree : 1);
        probe->probe.first_begin_ns = job_time_of(job, rank, probe->probe.first_begin_ns);
        probe->probe.last_end_ns = job_time_of(job, rank, probe->probe.last_end_ns);
    }
    count = to->counters_count + rank->counters_count;
    if (rank->counters_count)
        to->counters = memory_check(reallocarray(to->counters, count, sizeof *to->counters));
    for (size_t i = 0; i < rank->counters_count; i++) {
        to->counters[to->counters_count] = rank->counters[i];
        to->counters[to->counters_count++].node = node_map[rank->counters[i].node];
    }
    if (to->probe_count + to->counters_count < 2 * job->joined + JOINED_AT_ONCE)
        return;
    profile_join_probes(to);
    job->joined = to->probe_count + to->counters_count;
}

static void job_add_header(struct job *job, const struct profile *rank, uint64_t end_ns, bool gone)
{
    struct profile_header *to = &job->profile->header;
    const struct profile_header *from = &rank->header;
    uint64_t tool_start_ns = job_time_of(job, rank, from->tool_start_ns);
    uint64_t start_ns = job_time_of(job, rank, from->start_ns);
    if (start_ns < to->start_ns) {
        to->start_ns = start_ns;
        to->start_realtime_ns = from->start_realtime_ns;
    }
    to->merged += job->of_parts ? from->merged : 1;
    to->finished &= from->finished;
    to->growing += job->of_parts ? from->growing : !from->finished && !gone;
    to->end_ns = end_ns > to->end_ns ? end_ns : to->end_ns;
    to->tool_start_ns = tool_start_ns < to->tool_start_ns ? tool_start_ns : to->tool_start_ns;
    to->period_ns = from->period_ns > to->period_ns ? from->period_ns : to->period_ns;
    to->rate = from->rate < to->rate ? from->rate : to->rate;
    to->threads_max = from->threads_max > to->threads_max ? from->threads_max : to->threads_max;
    to->cores = from->cores > to->cores ? from->cores : to->cores;
    to->ranks = from->ranks > to->ranks ? from->ranks : to->ranks;
    to->ranks_seen = from->ranks_seen > to->ranks_seen ? from->ranks_seen : to->ranks_seen;
    to->without_team &= from->without_team;
    to->regions += from->regions;
    to->threads_untracked += from->threads_untracked;
    to->untracked_ns += from->untracked_ns;
    to->lock_inits_lost += from->lock_inits_lost;
    to->kernel_ns += from->kernel_ns;
    to->page_faults += from->page_faults;
    to->paused_ns += from->paused_ns;
    to->pauses += from->pauses;
    to->probes_lost += from->probes_lost;
    to->timeline_lost_ns += from->timeline_lost_ns;
    to->signals_taken += from->signals_taken;
    to->ended_by_program |= from->ended_by_program;
    to->before_start_ns += from->before_start_ns;
    to->before_inverse_busy_ns +=
        from->threads_max *
        (from->before_inverse_busy_ns > 0 ? from->before_inverse_busy_ns : (double)from->before_start_ns);
    to->before_no_core_ns += from->before_no_core_ns;
    to->before_blocked_ns += from->before_blocked_ns;
    if (!to->room_error) {
        to->room_error = from->room_error;
        to->room_limit = from->room_limit;
    }
    if (!to->timer_error) {
        to->timer_error = from->timer_error;
        to->timer_limit = from->timer_limit;
    }
}

/* Returns whether the text stored under a key describes one rank or one file, and not the job. */
static bool job_text_is_of_one_rank(const char *key)
{
    static const char *const keys[] = {"rank", "binding",       "host",        "directory",
                                       "file", "machine_begin", "machine_end", "misnested"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(key, keys[i]) == 0)
            return true;
    return false;
}

static void job_copy_texts(struct profile *to, const struct profile *from)
{
    const char *at = from->text, *end = at + from->text_bytes;
    to->text = memory_array(from->text_bytes + 1, 1);
    while (at < end) {
        const char *value = at + strlen(at) + 1;
        size_t bytes = value < end ? (size_t)(value + strlen(value) + 1 - at) : 0;
        if (!bytes || at + bytes > end)
            break;
        if (!job_text_is_of_one_rank(at)) {
            memcpy(to->text + to->text_bytes, at, bytes);
            to->text_bytes += bytes;
        }
        at += bytes;
    }
}

/* Takes the header, the texts and the counters' names from the first rank. The sums start at zero. */
static void job_take_first_rank(struct job *job, const struct profile *rank)
{
    struct profile *to = job->profile;
    const struct profile_header *from = &rank->header;
    job->start_realtime_ns = from->start_realtime_ns;
    to->header = (struct profile_header){
        .version = PROFILE_VERSION,
        .finished = 1,
        .start_realtime_ns = from->start_realtime_ns,
        .start_ns = START_NS,
        .tool_start_ns = UINT64_MAX,
        .rate = from->rate,
        .clock = from->clock,
        .without_team = from->without_team,
        .environment = from->environment,
        .context = from->context,
        .tasks = from->tasks,
        .depth = from->depth,
        .threads_max = 1,
        .phase_instances = from->phase_instances,
        .sample_signal = from->sample_signal,
        .in_job = 1,
        .csv = 1,
    };
    memcpy(to->header.program, from->program, sizeof to->header.program);
    job_copy_texts(to, rank);
    const char *counters = profile_text(rank, "counters");
    to->counter_text = memory_text("%s", counters ? counters : "");
    for (size_t i = 0; i < rank->counter_count; i++)
        to->counter_name[i] = to->counter_text + (rank->counter_name[i] - rank->counter_text);
    for (char *at = to->counter_text; *at; at++)
        *at = *at == '\n' ? '\0' : *at;
    to->counter_count = rank->counter_count;
    job->based = true;
}

/* Adds the measurements of a rank, or of a part of the job, to the job. gone: the process that wrote the file
 * has ended. */
static void job_add_profile(struct job *job, const struct profile *rank, bool gone)
{
    struct job_keys keys;
    if (!job->based)
        job_take_first_rank(job, rank);
    job_keys_start(&keys, job->profile, rank);
    uint32_t *node_map = memory_array(rank->node_count, sizeof *node_map);
    size_t threads = job->profile->thread_count;
    uint64_t last_ns = job_add_threads(job, rank);
    uint64_t end_ns = rank->header.end_ns ? job_time_of(job, rank, rank->header.end_ns) : last_ns;
    job_add_nodes(job, &keys, rank, node_map);
    job_add_probes(job, rank, node_map);
    profile_add_wakes(job->profile, rank, node_map);
    spread_sums_add(&job->spreads, rank, node_map, job->profile->node_count);
    for (size_t i = 0; i < rank->lock_count; i++)
        job_add_lock(job, &keys, &rank->locks[i]);
    job_add_header(job, rank, end_ns, gone);
    timeline_join_add(&job->timeline, job->profile, rank, node_map, threads);
    if (!job->of_parts)
        job_add_rank_record(job, rank, end_ns, gone);
    job->profile->unresolved_ns += rank->unresolved_ns;
    job->profile->stopped_ns += rank->stopped_ns;
    free(node_map);
    job_keys_end(&keys);
}

static void job_add_rank(struct job *job, const struct profile *rank, bool gone)
{
    const char *foreign = job_why_foreign(&job->like, rank);
    if (foreign) {
        bool one = !rank->header.merged && !rank->header.part;
        job_add_record(job->profile, one ? rank->header.rank : PROFILE_RANK_UNKNOWN, PROFILE_RANK_FOREIGN, foreign)
            ->process = rank->header.process;
        return;
    }
    if (!job->like.known)
        job_reference_take(&job->like, rank);
    job_add_profile(job, rank, gone);
}

/* Adds a part of the job. Returns false if the part's file cannot be read. */
static bool job_add_part(struct job *job, const char *path)
{
    char error[512];
    struct profile *part = profile_read(path, error, sizeof error);
    if (part && part->header.merged)
        job_add_profile(job, part, false);
    if (part)
        job_add_part_records(job, part);
    profile_free(part);
    return part != NULL;
}

/* Returns whether no process on this machine has the process number in the file. Called before the file is
 * read: if the process has ended by then, the file is complete. */
static bool job_file_has_no_process(const char *path)
{
    struct profile_header header;
    return profile_read_header(path, &header) && kill(header.pid, 0) != 0 && errno == ESRCH;
}

static bool job_rank_ran_here(const struct profile *rank)
{
    const char *host = profile_text(rank, "host");
    char here[HOST_NAME_MAX + 1] = "";
    gethostname(here, sizeof here - 1);
    return host && strcmp(host, here) == 0;
}

static void job_add_file(struct job *job, const char *path)
{
    char error[512];
    bool gone = job_file_has_no_process(path);
    struct profile *rank = profile_read(path, error, sizeof error);
    if (rank) {
        job_add_rank(job, rank, gone && job_rank_ran_here(rank));
    } else {
        const char *cause = strstr(error, path) == error ? error + strlen(path) + 2 : error;
        uint32_t process, number = job_rank_by_name(path, &process);
        job_add_record(job->profile, number, PROFILE_RANK_DAMAGED, cause)->process = process;
    }
    profile_free(rank);
}

static void job_start_part(struct job *job)
{
    *job = (struct job){.profile = memory_array(1, sizeof *job->profile)};
    node_tree_start(&job->tree, job->profile);
    job->profile->header.finished = 1;
}

static struct profile *job_end_part(struct job *job)
{
    node_tree_end(&job->tree);
    pair_map_free(&job->locks);
    if (job->based)
        job_divide_idleness(job->profile);
    spread_sums_end(&job->spreads, job->profile);
    profile_join_probes(job->profile);
    timeline_join_end(&job->timeline, job->profile);
    job_sort_records(job->profile);
    job->profile->header.part = 1;
    return job->profile;
}

struct profile *job_read_part(const char *const *paths, size_t count, const struct job_reference *like)
{
    struct job job;
    void (*progress)(size_t done, size_t total) = profile_read_progress;
    job_start_part(&job);
    job.like = *like;
    profile_read_progress = NULL;
    for (size_t i = 0; i < count; i++) {
        job_add_file(&job, paths[i]);
        if (progress)
            progress(i + 1, count);
    }
    profile_read_progress = progress;
    if (!like->known)
        job_reference_free(&job.like);
    return job_end_part(&job);
}

struct profile *job_join_parts(const char *const *paths, size_t count)
{
    struct job job;
    bool good = true;
    job_start_part(&job);
    job.of_parts = true;
    for (size_t i = 0; i < count; i++)
        good = good && job_add_part(&job, paths[i]);
    struct profile *joined = job_end_part(&job);
    if (good)
        return joined;
    profile_free(joined);
    return NULL;
}

struct profile *job_complete(struct profile *part, char **why)
{
    *why = NULL;
    part->header.part = 0;
    if (part->header.merged) {
        timeline_join_prune(part);
        job_add_missing(part);
        job_sort_records(part);
        return part;
    }
    for (size_t i = 0; i < part->rank_count && !*why; i++)
        if (part->ranks[i].state == PROFILE_RANK_DAMAGED)
            *why = memory_text("rank %u: %s", part->ranks[i].rank, part->ranks[i].why);
    if (!*why)
        *why = memory_text("none of its files belongs to this job");
    profile_free(part);
    return NULL;
}

struct profile *job_read(const char *const *paths, size_t count, const char *identity, char **why)
{
    return job_complete(job_read_part(paths, count, &(struct job_reference){.identity = identity}), why);
}

size_t job_ranks(const struct profile *profile)
{
    return profile->header.merged ? profile->header.merged : 1;
}
