#include "command/export/locations.h"

#include <stdlib.h>
#include <string.h>

#include "cct/profile_tree.h"
#include "command/profile/job_keys.h"
#include "command/profile/job_reference.h"
#include "command/profile/node_tree.h"
#include "command/profile/pair_map.h"
#include "command/profile/read.h"
#include "command/profile/trace.h"
#include "command/rows/part.h"
#include "command/text/memory.h"
#include "command/text/strings.h"

struct process {
    const char *path;
    struct profile
        /* profile of a rank's file, with its records and its host but without values; NULL: the process is
         * that of the sum */
        *outline;
};

struct location_source {
    struct profile sum;    /* copy of the sum's profile, whose tree is searched but not changed */
    struct node_tree tree; /* index for finding nodes of `sum` */
    struct process *process;
    size_t process_room, location_room;
    uint32_t *all; /* numbers of all rows in the sum: 0, 1, 2 ... */
};

/* Returns the matching node of the sum for each node of `part`, in an array that the caller frees. Nodes
 * match if their paths from the root are equal. For a rank, keys are first translated to those of the job.
 * The program may have been running when the sum was read, so the sum may lack a node; its parent's node is
 * used in its place. */
static uint32_t *export_locations_match_nodes(struct location_source *source, const struct profile *part)
{
    struct job_keys keys;
    bool of_job = source->sum.header.merged;
    uint32_t *node = memory_array(part->node_count, sizeof *node);
    if (of_job)
        job_keys_find(&keys, &source->sum, part);
    for (uint32_t i = 1; i < part->node_count; i++) {
        const struct merged_node *from = &part->nodes[i];
        uint64_t key = of_job ? job_key_of(&keys, from->kind, from->key) : from->key;
        uint32_t parent = node[from->parent], found = node_tree_find(&source->tree, parent, from->kind, key);
        node[i] = found ? found : parent;
    }
    if (of_job)
        job_keys_end(&keys);
    return node;
}

/* Returns whether the file says which thread each sample belongs to. */
static bool export_locations_threads_are_known(const struct profile *profile)
{
    bool known = profile->path && !profile->header.merged && !profile->tree && profile->thread_count;
    for (size_t i = 0; i < profile->thread_count && known; i++)
        known = profile->threads[i].tree || !profile->threads[i].recorded;
    return known;
}

static struct location *export_locations_add(struct locations *locations, enum location_kind kind,
                                             const struct profile *process)
{
    const char *host = process->header.merged ? NULL : profile_text(process, "host");
    memory_grow(&locations->location, &locations->source->location_room, locations->count, sizeof *locations->location);
    struct location *location = &locations->location[locations->count++];
    *location = (struct location){
        .kind = kind, .process = locations->processes - 1, .host = host ? host : "", .thread = LOCATION_NO_THREAD};
    if (process->header.merged)
        return location;
    location->ranked = process->header.ranks;
    location->rank = location->ranked ? process->header.rank : 0;
    location->of_rank = location->ranked ? process->header.process : 0;
    location->pid = process->header.pid;
    return location;
}

/* Adds a location for each tree. If several threads used a tree one after another, its location is that of
 * the first initial thread among them, or of the first thread if none is initial. The time before the start
 * belongs to that thread. */
static void export_locations_add_threads(struct locations *locations, const struct profile *profile)
{
    struct pair_map owner = {0};
    uint32_t number = 0;
    for (int initial = 1; initial >= 0; initial--)
        for (uint32_t i = 0; i < profile->thread_count; i++) {
            uint32_t *slot = pair_map_slot(&owner, profile->threads[i].tree, 0);
            if (*slot == PAIR_MAP_NEW && (profile->threads[i].kind == PROFILE_THREAD_INITIAL) == initial)
                *slot = i;
        }
    for (uint32_t i = 0; i < profile->thread_count; i++) {
        const struct profile_thread *thread = &profile->threads[i];
        if (!thread->tree || *pair_map_slot(&owner, thread->tree, 0) != i)
            continue;
        struct location *location = export_locations_add(locations, LOCATION_THREAD, profile);
        location->number = number++;
        location->thread = i;
        location->record = thread;
    }
    pair_map_free(&owner);
}

static void export_locations_add_process(struct locations *locations, const char *path, struct profile *outline)
{
    struct location_source *source = locations->source;
    memory_grow(&source->process, &source->process_room, locations->processes, sizeof *source->process);
    source->process[locations->processes++] = (struct process){.path = path, .outline = outline};
}

static void export_locations_number_hosts(struct locations *locations)
{
    struct strings *hosts = strings_new();
    for (size_t i = 0; i < locations->count; i++) {
        struct location *location = &locations->location[i];
        bool same = i && location->process == location[-1].process;
        /* with the prefix, the text is not empty even if the host is unknown, so that this host gets a number
         * too */
        char *host = memory_text("at %s", location->host);
        location->node = same ? location[-1].node : strings_intern(hosts, host) - 1;
        locations->nodes = location->node >= locations->nodes ? location->node + 1 : locations->nodes;
        free(host);
    }
    strings_free(hosts);
}

/* Returns the file that contains the process of a rank, or NULL if none of the files does. */
static const char *export_locations_find_rank_file(const struct profile_rank *record,
                                                   const struct profile_header *headers, const char *const *files,
                                                   size_t count)
{
    for (size_t i = 0; i < count && record->state <= PROFILE_RANK_OPEN; i++)
        if (headers[i].version && !headers[i].merged && headers[i].rank == record->rank &&
            headers[i].process == record->process && headers[i].pid == record->pid)
            return files[i];
    return NULL;
}

static void export_locations_add_ranks(struct locations *locations, const char *const *files, size_t count)
{
    const struct profile *job = locations->profile;
    struct job_reference like = {.identity = profile_text(job, "job_identity")};
    struct profile_header *headers = memory_array(count, sizeof *headers);
    char error[1024];
    job_reference_take(&like, job);
    for (size_t i = 0; i < count; i++)
        if (!profile_read_header(files[i], &headers[i]))
            headers[i].version = 0;
    for (size_t i = 0; i < job->rank_count; i++) {
        const char *path = export_locations_find_rank_file(&job->ranks[i], headers, files, count);
        struct profile *outline = path ? profile_read_outline(path, error, sizeof error) : NULL;
        if (!outline || job_why_foreign(&like, outline)) {
            profile_free(outline);
            continue;
        }
        export_locations_add_process(locations, path, outline);
        if (export_locations_threads_are_known(outline))
            export_locations_add_threads(locations, outline);
        else
            export_locations_add(locations, LOCATION_PROCESS, outline);
    }
    job_reference_free(&like);
    free(headers);
}

void export_locations_find(struct locations *locations, const struct profile *profile, const struct rows *rows,
                           const char *const *rank_files, size_t rank_file_count)
{
    *locations = (struct locations){.profile = profile, .rows = rows, .lost = rows->row[0].inclusive->samples};
    struct location_source *source = locations->source = memory_array(1, sizeof *source);
    source->sum = *profile;
    if (profile->header.merged)
        export_locations_add_ranks(locations, rank_files, rank_file_count);
    if (!locations->count)
        export_locations_add_process(locations, profile->path, NULL);
    if (export_locations_threads_are_known(profile))
        export_locations_add_threads(locations, profile);
    if (locations->count)
        node_tree_resume(&source->tree, &source->sum);
    else
        export_locations_add(locations, LOCATION_ALL, profile);
    export_locations_number_hosts(locations);
}

void export_locations_sum(struct locations *locations, struct location_rows *sum)
{
    struct location_source *source = locations->source;
    if (!source->all) {
        source->all = memory_array(locations->rows->count, sizeof *source->all);
        for (uint32_t i = 0; i < locations->rows->count; i++)
            source->all[i] = i;
    }
    *sum = (struct location_rows){.rows = locations->rows, .of = source->all};
}

/* Scales the idleness of a rank to that of the job, which is computed with the largest number of threads that
 * any rank has (command/profile/job.c). */
static void export_locations_scale_idleness(const struct location_source *source, struct profile *rank)
{
    double share = (double)rank->header.threads_max / source->sum.header.threads_max;
    for (size_t i = 0; i < rank->node_count; i++)
        if (rank->nodes[i].kind != PROFILE_NODE_WAITERS)
            rank->nodes[i].metric.inverse_busy *= share;
    rank->header.before_inverse_busy_ns = share * (double)rank->header.before_start_ns;
}

static bool export_locations_read_part(struct locations *locations, const struct location *location,
                                       struct location_rows *read)
{
    struct location_source *source = locations->source;
    const char *path = source->process[location->process].path;
    char *error = locations->refusal;
    size_t room = sizeof locations->refusal;
    struct profile *part = location->kind == LOCATION_THREAD ? profile_read_thread(path, location->thread, error, room)
                                                             : profile_read(path, error, room);
    if (!part)
        return false;
    part->header.environment = source->sum.header.environment;
    if (source->sum.header.merged)
        export_locations_scale_idleness(source, part);
    *read = (struct location_rows){.profile = part};
    uint32_t *node = export_locations_match_nodes(source, part);
    read->rows = read->made = rows_part(locations->rows, part, node, &read->made_of);
    read->of = read->made_of;
    free(node);
    return true;
}

bool export_locations_read(struct locations *locations, size_t index, struct location_rows *read)
{
    if (locations->location[index].kind == LOCATION_ALL)
        export_locations_sum(locations, read);
    else if (!export_locations_read_part(locations, &locations->location[index], read))
        return false;
    uint64_t samples = read->rows->row[0].inclusive->samples;
    locations->lost -= samples < locations->lost ? samples : locations->lost;
    return true;
}

struct trace *export_locations_read_trace(struct locations *locations, size_t process, struct profile_header *header)
{
    struct location_source *source = locations->source;
    struct profile *outline = source->process[process].outline, *part = NULL;
    char error[sizeof locations->trace_error] = "";
    *header = outline ? outline->header : source->sum.header;
    if (!header->traced || header->merged)
        return NULL;
    if (outline)
        part = profile_read(source->process[process].path, error, sizeof error);
    struct trace *trace = part || !outline ? trace_read(part ? part : &source->sum, error, sizeof error) : NULL;
    if (trace && part) {
        uint32_t *node = export_locations_match_nodes(source, part);
        for (size_t i = 0; i < trace->lane_count; i++)
            for (size_t j = 0; j < trace->lanes[i].span_count; j++)
                trace->lanes[i].spans[j].node = node[trace->lanes[i].spans[j].node];
        free(node);
    }
    profile_free(part);
    locations->traced += trace ? trace->samples : 0;
    locations->thinned += trace ? trace->thinned : 0;
    if (!trace && !*locations->trace_error)
        memcpy(locations->trace_error, error, sizeof error);
    return trace;
}

void export_location_rows_free(struct location_rows *read)
{
    rows_free(read->made);
    free(read->made_of);
    profile_free(read->profile);
    *read = (struct location_rows){0};
}

void export_locations_free(struct locations *locations)
{
    struct location_source *source = locations->source;
    for (size_t i = 0; i < locations->processes; i++)
        profile_free(source->process[i].outline);
    node_tree_end(&source->tree);
    free(source->process);
    free(source->all);
    free(source);
    free(locations->location);
}
