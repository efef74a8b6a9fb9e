#include "command/profile/read.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cct/profile_trace.h"
#include "command/profile/mapped.h"
#include "command/profile/merge.h"
#include "command/profile/pair_map.h"
#include "command/profile/probes.h"
#include "command/profile/profile.h"
#include "command/text/memory.h"

/* ---- processes that were killed ---- */

/* One lock, for how many ns threads waited for it, and for how many of these no holder was blamed. */
struct lock_sum {
    uint64_t key;
    double waited, open;
};

/* The blame and the waiting are sampled by different threads. They may differ by up to SAMPLING_ERRORS standard
 * deviations, as in the law `lock_wait`. */
#define SAMPLING_ERRORS 4.0

static int profile_compare_lock_sums(const void *left, const void *right)
{
    uint64_t a = ((const struct lock_sum *)left)->key, b = ((const struct lock_sum *)right)->key;
    return a < b ? -1 : a > b;
}

static void profile_count_cut_off_samples(struct profile *profile)
{
    for (size_t i = 0; i < profile->thread_count; i++) {
        struct profile_thread *thread = &profile->threads[i];
        uint64_t known = thread->recorded;
        for (int reason = 0; reason < PROFILE_DROP_REASONS; reason++)
            known += thread->dropped[reason];
        if (thread->delivered > known)
            thread->dropped[PROFILE_DROP_CUT_OFF] += thread->delivered - known;
    }
}

static size_t profile_sum_open_lock_waits(const struct profile *profile, struct lock_sum *sums)
{
    size_t count = 0, distinct = 0;
    for (size_t i = 0; i < profile->node_count; i++) {
        const struct merged_node *node = &profile->nodes[i];
        if (node->kind == PROFILE_NODE_LOCK)
            sums[count++] = (struct lock_sum){node->key, node->metric.lock_wait_here,
                                              node->metric.lock_wait_here - node->metric.lock_wait};
    }
    qsort(sums, count, sizeof(*sums), profile_compare_lock_sums);
    for (size_t i = 0; i < count; i++) {
        if (distinct && sums[distinct - 1].key == sums[i].key) {
            sums[distinct - 1].waited += sums[i].waited;
            sums[distinct - 1].open += sums[i].open;
        } else {
            sums[distinct++] = sums[i];
        }
    }
    double each = (double)profile->header.period_ns * fmax(profile->header.threads_max, 1);
    for (size_t i = 0; i < distinct && profile->header.clock == 0; i++)
        if (sums[i].open <= SAMPLING_ERRORS * sqrt(each * fmax(sums[i].waited, each)))
            sums[i].open = 0;
    return distinct;
}

static void profile_append_node(struct profile *profile, uint32_t parent, enum profile_node_kind kind, uint64_t key)
{
    struct merged_node *node = &profile->nodes[profile->node_count++];
    memset(node, 0, sizeof(*node));
    node->parent = parent;
    node->kind = (uint8_t)kind;
    node->key = key;
}

/* Adds a pseudo node <unreleased lock>, with a child for each lock whose waiting is not blamed on a holder.
 * The number of threads that were busy meanwhile is unknown. The sums assume that all threads were, which
 * adds no idleness. */
static void profile_book_open_locks(struct profile *profile, const struct lock_sum *sums, size_t count)
{
    profile->nodes =
        memory_check(reallocarray(profile->nodes, profile->node_count + 1 + count, sizeof *profile->nodes));
    uint32_t row = (uint32_t)profile->node_count;
    profile_append_node(profile, 0, PROFILE_NODE_PSEUDO, PROFILE_PSEUDO_UNRELEASED);
    for (size_t i = 0; i < count; i++) {
        if (sums[i].open <= 0)
            continue;
        profile_append_node(profile, row, PROFILE_NODE_LOCK, sums[i].key);
        struct profile_sums *metric = &profile->nodes[profile->node_count - 1].metric;
        metric->lock_wait = sums[i].open;
        metric->inverse_busy = sums[i].open / (double)(profile->thread_count ? profile->thread_count : 1);
        timeline_add_at_end(&profile->timeline, (uint32_t)profile->node_count - 1,
                            &(struct profile_time_value){.lock_wait = (float)metric->lock_wait,
                                                         .inverse_busy = (float)metric->inverse_busy});
    }
}

/* Completes the merged profile of a process that was killed. Counts the samples that were cut off. Adds a row
 * <unreleased lock> with the waiting that no holder was blamed for, lock by lock. */
static void profile_complete_killed(struct profile *profile)
{
    /* each rank of a merged file was completed before the merge */
    if (profile->header.finished || profile->header.merged)
        return;
    profile_count_cut_off_samples(profile);
    /* only one thread's tree was read, but other threads release the locks for which the thread waits */
    if (profile->tree)
        return;
    struct lock_sum *sums = memory_array(profile->node_count, sizeof *sums);
    size_t count = profile_sum_open_lock_waits(profile, sums);
    bool open = false;
    for (size_t i = 0; i < count; i++)
        open = open || sums[i].open > 0;
    if (open)
        profile_book_open_locks(profile, sums, count);
    free(sums);
}

/* ---- the file ---- */

#define THREADS_PER_CHUNK ((PROFILE_CHUNK_BYTES - PROFILE_THREAD_BYTES) / PROFILE_THREAD_BYTES)
#define MODULES_PER_CHUNK ((PROFILE_CHUNK_BYTES - PROFILE_MODULE_BYTES) / PROFILE_MODULE_BYTES)
#define RANKS_PER_CHUNK   ((PROFILE_CHUNK_BYTES - PROFILE_RANK_BYTES) / PROFILE_RANK_BYTES)
#define ALL_THREADS       SIZE_MAX
#define OUTLINE           (SIZE_MAX - 1) /* as the index of a thread: read no thread's contexts */
#define TEXT_PER_CHUNK    (PROFILE_CHUNK_BYTES - PROFILE_UNIT_BYTES)

static const char NEWER[] = "made by a newer blame";

/* Reads exactly `bytes` bytes at `offset`. If the file is too short, returns false with errno 0. */
static bool profile_read_exactly_at(int file, void *to, size_t bytes, off_t offset)
{
    for (size_t done = 0; done < bytes;) {
        ssize_t got = pread(file, (char *)to + done, bytes - done, offset + (off_t)done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            errno = got < 0 ? errno : 0;
            return false;
        }
        done += (size_t)got;
    }
    return true;
}

/* Returns what is wrong with the header, or NULL. A newer format may have any layout, so its version is
 * checked first. */
static const char *profile_header_check(const struct profile_header *header)
{
    if (memcmp(header->magic, PROFILE_MAGIC, sizeof header->magic) != 0)
        return "not a blame profile";
    if (header->byte_order == __builtin_bswap32(PROFILE_BYTE_ORDER))
        return "written on a machine with another byte order; read the file on such a machine";
    if (header->byte_order != PROFILE_BYTE_ORDER)
        return "damaged: the file's header has impossible values";
    if (header->version < PROFILE_VERSION_OLDEST)
        return "damaged: the file's header has impossible values";
    if (header->version > PROFILE_VERSION)
        return NEWER;
    if (header->header_bytes != PROFILE_HEADER_BYTES || header->chunk_bytes != PROFILE_CHUNK_BYTES ||
        header->unit_bytes != PROFILE_UNIT_BYTES || header->thread_bytes != PROFILE_THREAD_BYTES ||
        header->module_bytes != PROFILE_MODULE_BYTES || header->chunk_count > PROFILE_MAX_CHUNKS)
        return "damaged: the file's header has impossible values";
    return NULL;
}

static bool profile_thread_sane(const struct profile_thread *thread)
{
    const double sums[] = {thread->work,
                           thread->overhead,
                           thread->lock_wait,
                           thread->idle,
                           thread->parked,
                           thread->dropped_ns,
                           thread->idle_nobody_busy,
                           thread->on_core_ns,
                           thread->no_core_ns,
                           thread->stolen,
                           thread->mpi_wait,
                           thread->probed_exact,
                           thread->no_core,
                           thread->blocked,
                           thread->idle_no_core,
                           thread->probed_sampled,
                           thread->unsignalled_ns,
                           thread->no_core_dropped_ns,
                           thread->lock_wait_counted};
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
        if (!profile_number_sane(sums[i]) || sums[i] < 0)
            return false;
    return true;
}

static uint32_t profile_count_records(const struct profile_chunks *chunks, uint32_t kind, uint32_t per_chunk)
{
    uint32_t count = 0;
    for (uint32_t n = 0; n < chunks->count; n++) {
        const struct profile_chunk *chunk = profile_chunk_at(chunks, n);
        if (profile_chunk_kind(chunks, n) == kind)
            count += chunk->used < per_chunk ? chunk->used : per_chunk;
    }
    return count;
}

static int profile_compare_thread_starts(const void *left, const void *right)
{
    const struct profile_thread *a = left, *b = right;
    if (a->begin_ns != b->begin_ns)
        return a->begin_ns < b->begin_ns ? -1 : 1;
    return (a->tid > b->tid) - (a->tid < b->tid);
}

static const char *profile_read_threads(const struct profile_chunks *chunks, struct profile *profile)
{
    size_t room = profile_count_records(chunks, PROFILE_CHUNK_THREAD, THREADS_PER_CHUNK);
    profile->threads = memory_array(room, sizeof *profile->threads);
    for (uint32_t n = 0; n < chunks->count; n++) {
        const struct profile_chunk *chunk = profile_chunk_at(chunks, n);
        if (profile_chunk_kind(chunks, n) != PROFILE_CHUNK_THREAD)
            continue;
        const struct profile_thread *thread = (const struct profile_thread *)chunk + 1;
        for (uint32_t i = 0; i < chunk->used && i < THREADS_PER_CHUNK; i++, thread++) {
            if (thread->kind == PROFILE_THREAD_UNUSED)
                continue;
            if (!profile_thread_sane(thread))
                return "damaged: the sum of a thread is not a possible value";
            profile->threads[profile->thread_count++] = *thread;
        }
    }
    qsort(profile->threads, profile->thread_count, sizeof *profile->threads, profile_compare_thread_starts);
    return NULL;
}

static bool profile_rank_sane(const struct profile_rank *rank)
{
    const double sums[] = {rank->work,    rank->overhead, rank->lock_wait, rank->idle,      rank->no_core,
                           rank->blocked, rank->mpi_wait, rank->rank_idle, rank->made_wait, rank->charged};
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
        if (!profile_number_sane(sums[i]) || sums[i] < 0)
            return false;
    return true;
}

static const char *profile_read_ranks(const struct profile_chunks *chunks, struct profile *profile)
{
    size_t room = profile_count_records(chunks, PROFILE_CHUNK_RANK, RANKS_PER_CHUNK);
    profile->ranks = memory_array(room, sizeof *profile->ranks);
    for (uint32_t n = 0; n < chunks->count; n++) {
        const struct profile_chunk *chunk = profile_chunk_at(chunks, n);
        if (profile_chunk_kind(chunks, n) != PROFILE_CHUNK_RANK)
            continue;
        const struct profile_rank *from = (const struct profile_rank *)chunk + 1;
        for (uint32_t i = 0; i < chunk->used && i < RANKS_PER_CHUNK; i++, from++) {
            if (!profile_rank_sane(from))
                return "damaged: the sum of a rank is not a possible value";
            struct profile_rank *rank = &profile->ranks[profile->rank_count++];
            *rank = *from;
            rank->host[sizeof rank->host - 1] = '\0';
            rank->binding[sizeof rank->binding - 1] = '\0';
            rank->why[sizeof rank->why - 1] = '\0';
        }
    }
    return NULL;
}

static void profile_read_modules(const struct profile_chunks *chunks, struct profile *profile)
{
    size_t room = profile_count_records(chunks, PROFILE_CHUNK_MODULE, MODULES_PER_CHUNK);
    profile->modules = memory_array(room, sizeof *profile->modules);
    for (uint32_t n = 0; n < chunks->count; n++) {
        const struct profile_chunk *chunk = profile_chunk_at(chunks, n);
        if (profile_chunk_kind(chunks, n) != PROFILE_CHUNK_MODULE)
            continue;
        const struct profile_module *from = (const struct profile_module *)chunk + 1;
        for (uint32_t i = 0; i < chunk->used && i < MODULES_PER_CHUNK; i++, from++) {
            struct profile_module *module = &profile->modules[profile->module_count++];
            *module = *from;
            module->path[sizeof module->path - 1] = '\0';
            if (module->build_id_bytes > sizeof module->build_id)
                module->build_id_bytes = 0;
        }
    }
}

static void profile_read_text(const struct profile_chunks *chunks, struct profile *profile)
{
    size_t room = profile_count_records(chunks, PROFILE_CHUNK_TEXT, TEXT_PER_CHUNK);
    profile->text = memory_array(room + 1, 1);
    for (uint32_t n = 0; n < chunks->count; n++) {
        const struct profile_chunk *chunk = profile_chunk_at(chunks, n);
        if (profile_chunk_kind(chunks, n) != PROFILE_CHUNK_TEXT)
            continue;
        size_t bytes = chunk->used < TEXT_PER_CHUNK ? chunk->used : TEXT_PER_CHUNK;
        memcpy(profile->text + profile->text_bytes, (const char *)chunk + PROFILE_UNIT_BYTES, bytes);
        profile->text_bytes += bytes;
    }
}

/* Returns the key of the lock to which a WAITS node or a child of a WAITS node belongs; 0 for any other node. */
static uint64_t profile_lock_key_of(const struct profile_chunks *chunks, const struct profile_node *node)
{
    const struct profile_node *parent = profile_node_at(chunks, node->parent);
    if (node->kind == PROFILE_NODE_WAITS)
        return parent && parent->kind == PROFILE_NODE_ROOT ? node->key : 0;
    if (node->kind != PROFILE_NODE_INITIALISER && node->kind != PROFILE_NODE_VARIABLE)
        return 0;
    return parent && parent->kind == PROFILE_NODE_WAITS ? profile_lock_key_of(chunks, parent) : 0;
}

static struct profile_lock *profile_lock_with_key(struct profile *profile, struct pair_map *map, uint64_t key,
                                                  uint64_t initialiser)
{
    uint32_t *slot = pair_map_slot(map, key, initialiser);
    if (*slot == PAIR_MAP_NEW) {
        size_t count = profile->lock_count;
        if ((count & (count - 1)) == 0) /* the list is full whenever its count is a power of two */
            profile->locks = memory_check(reallocarray(profile->locks, count ? 2 * count : 1, sizeof *profile->locks));
        *slot = (uint32_t)profile->lock_count++;
        profile->locks[*slot] = (struct profile_lock){.key = key, .initialiser = initialiser};
    }
    return &profile->locks[*slot];
}

static const char *profile_read_lock_node(const struct profile_chunks *chunks, struct profile *profile,
                                          struct pair_map *map, const struct profile_node *node)
{
    uint64_t key = profile_lock_key_of(chunks, node);
    if (!key)
        return NULL;
    struct profile_lock *lock =
        profile_lock_with_key(profile, map, key, node->kind == PROFILE_NODE_INITIALISER ? node->key : 0);
    if (node->kind == PROFILE_NODE_VARIABLE) {
        lock->variable = node->key;
        return NULL;
    }
    const struct profile_waits *waits = (const void *)profile_metric_at(chunks, node->metric);
    if (!waits)
        return NULL;
    if (!profile_number_sane(waits->sum_ns) || !profile_number_sane(waits->longest_ns) || waits->sum_ns < 0 ||
        waits->longest_ns < 0)
        return "damaged: the sum of a lock is not a possible value";
    lock->sum_ns += waits->sum_ns;
    lock->waits += waits->waits;
    if (waits->longest_ns > lock->longest_ns)
        lock->longest_ns = waits->longest_ns;
    return NULL;
}

#define LOCK_KINDS                                                                                                     \
    (PROFILE_KIND_BIT(PROFILE_NODE_WAITS) | PROFILE_KIND_BIT(PROFILE_NODE_INITIALISER) |                               \
     PROFILE_KIND_BIT(PROFILE_NODE_VARIABLE))

static const char *profile_read_lock_waits(const struct profile_chunks *chunks, struct profile *profile)
{
    struct pair_map map = {0};
    const char *wrong = NULL;
    for (uint32_t n = 0; n < chunks->count; n++) {
        const struct profile_chunk *chunk = profile_chunk_at(chunks, n);
        if (!profile_chunk_may_have(chunks, n, LOCK_KINDS))
            continue;
        for (uint32_t unit = 1; unit < chunk->used && unit < PROFILE_UNITS_PER_CHUNK && !wrong; unit++)
            wrong = profile_read_lock_node(chunks, profile, &map, (const struct profile_node *)chunk + unit);
    }
    pair_map_free(&map);
    return wrong;
}

struct life_end {
    uint64_t time_ns;
    int change;
};

static int profile_compare_life_ends(const void *left, const void *right)
{
    const struct life_end *a = left, *b = right;
    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns ? -1 : 1;
    return a->change - b->change;
}

/* Returns how many threads lived at the same time at most: of those that T counts, or of the others. */
static uint32_t profile_most_threads_at_once(const struct profile *profile, bool counted)
{
    struct life_end *ends = memory_array(2 * profile->thread_count, sizeof *ends);
    uint32_t now = 0, most = 0;
    for (size_t i = 0; i < profile->thread_count; i++) {
        const struct profile_thread *thread = &profile->threads[i];
        int counts = thread->kind != PROFILE_THREAD_HELPER && profile_thread_counts(profile, thread) == counted;
        ends[2 * i] = (struct life_end){thread->begin_ns, counts};
        ends[2 * i + 1] = (struct life_end){thread->end_ns ? thread->end_ns : UINT64_MAX, -counts};
    }
    qsort(ends, 2 * profile->thread_count, sizeof *ends, profile_compare_life_ends);
    for (size_t i = 0; i < 2 * profile->thread_count; i++) {
        if (ends[i].change < 0 && now == 0)
            continue; /* a damaged record: the thread ends before it begins */
        now += (uint32_t)ends[i].change;
        most = now > most ? now : most;
    }
    free(ends);
    return most;
}

/* Needs the texts, which say whether there is an OpenMP runtime. */
static void profile_count_threads(struct profile *profile)
{
    uint32_t counted = profile_most_threads_at_once(profile, true);
    if (profile->header.threads_max == 0) /* the process was killed before it wrote T */
        profile->header.threads_max = counted ? counted : 1;
    profile->others_max = profile_most_threads_at_once(profile, false);
}

static bool profile_load_chunk(int file, unsigned char *bytes, uint32_t n)
{
    return profile_read_exactly_at(file, bytes + (size_t)n * PROFILE_CHUNK_BYTES, PROFILE_CHUNK_BYTES,
                                   PROFILE_HEADER_BYTES + (off_t)n * PROFILE_CHUNK_BYTES);
}

static bool profile_chunk_is_of_tree(const struct profile_chunk *chunk)
{
    return chunk->kind == PROFILE_CHUNK_TREE || chunk->kind == PROFILE_CHUNK_TIME || chunk->kind == PROFILE_CHUNK_TRACE;
}

/* Reads the chunks of one thread's tree, and only the headers of the chunks of other trees. No node of the
 * tree has a parent in another tree, so the other chunks may stay empty. On failure, returns false and sets
 * errno like profile_read_exactly_at(). */
static bool profile_load_one_tree(int file, uint32_t count, unsigned char *bytes, size_t thread)
{
    struct profile_chunks chunks = {.bytes = bytes, .count = count};
    struct profile threads = {0};
    bool good = true;
    for (uint32_t n = 0; n < count && good; n++) {
        struct profile_chunk *head = (struct profile_chunk *)(bytes + (size_t)n * PROFILE_CHUNK_BYTES);
        good =
            profile_read_exactly_at(file, head, sizeof *head, PROFILE_HEADER_BYTES + (off_t)n * PROFILE_CHUNK_BYTES) &&
            (profile_chunk_is_of_tree(head) || profile_load_chunk(file, bytes, n));
    }
    uint64_t tree =
        good && thread != OUTLINE && !profile_read_threads(&chunks, &threads) && thread < threads.thread_count
            ? threads.threads[thread].tree
            : 0;
    for (uint32_t n = 0; n < count && good && tree; n++) {
        const struct profile_chunk *chunk = profile_chunk_at(&chunks, n);
        if (profile_chunk_is_of_tree(chunk) && chunk->kind != PROFILE_CHUNK_TRACE && chunk->owner == tree)
            good = profile_load_chunk(file, bytes, n);
    }
    free(threads.threads);
    return good;
}

/* What to read from a measurement file, and where to store it. */
struct chunk_reading {
    size_t thread; /* the only thread whose tree is read, or ALL_THREADS or OUTLINE */
    struct profile_header *header;
    unsigned char **bytes; /* receives the chunks, which the caller frees */
    bool *mapped;          /* receives whether the chunks are a part of the file; NULL: they must not be */
    char *buffer;          /* room for a text that says what is wrong */
    size_t buffer_bytes;
};

/* Finds the kinds of the chunks, which are then asked for many times. */
static void profile_note_kinds(struct profile_chunks *chunks)
{
    chunks->chunk_kind = memory_array(chunks->count + 1, sizeof *chunks->chunk_kind);
    chunks->node_kinds = memory_array(chunks->count + 1, sizeof *chunks->node_kinds);
    for (uint32_t n = 0; n < chunks->count; n++) {
        uint32_t kind = profile_chunk_at(chunks, n)->kind;
        chunks->chunk_kind[n] = kind <= UINT8_MAX ? (uint8_t)kind : 0;
        if (chunks->done && n % MAPPED_CHUNKS == 0)
            chunks->done(chunks, n);
    }
}

/* Reads the chunks of an open file of `size` bytes. Returns NULL, or a text that says what is wrong. */
static const char *profile_load_chunks(int file, off_t size, const struct chunk_reading *to)
{
    const struct profile_header *header = to->header;
    off_t there = size > PROFILE_HEADER_BYTES ? (size - PROFILE_HEADER_BYTES) / PROFILE_CHUNK_BYTES : 0;
    size_t wanted = (size_t)header->chunk_count * PROFILE_CHUNK_BYTES;
    if (there < header->chunk_count) {
        snprintf(to->buffer, to->buffer_bytes, "truncated: contains only %lld of its %u chunks", (long long)there,
                 header->chunk_count);
        return to->buffer;
    }
    if (to->mapped && header->finished && to->thread == ALL_THREADS && (*to->bytes = mapped_chunks(file, wanted))) {
        *to->mapped = true;
        return NULL;
    }
    /* calloc, because it does not touch the pages of chunks that will not be read */
    unsigned char *bytes = *to->bytes = calloc(wanted + 1, 1);
    if (!bytes)
        return "not enough memory to read the file";
    if (to->thread == ALL_THREADS ? !profile_read_exactly_at(file, bytes, wanted, PROFILE_HEADER_BYTES)
                                  : !profile_load_one_tree(file, header->chunk_count, bytes, to->thread)) {
        snprintf(to->buffer, to->buffer_bytes, "cannot be read: %s", errno ? strerror(errno) : "it became shorter");
        return to->buffer;
    }
    return NULL;
}

/* Selects a thread's tree. Returns NULL, or a text that says what is wrong. */
static const char *profile_select_thread(struct profile *profile, size_t thread, char *buffer, size_t buffer_bytes)
{
    if (!profile->thread_count)
        return "has no threads";
    if (thread >= profile->thread_count) {
        snprintf(buffer, buffer_bytes, "has no thread %zu; its threads are 0 to %zd (see threads.csv)", thread,
                 (ssize_t)profile->thread_count - 1);
        return buffer;
    }
    if (profile->header.merged)
        return "this is the profile of a job, which has no data on individual threads; use --rank to read the file of "
               "one rank";
    profile->tree = profile->threads[thread].tree;
    if (!profile->tree)
        return "the file does not say which samples belong to which thread: an older tool wrote it, or there were "
               "too many threads; read it without a choice of threads";
    /* index of the first initial thread, to which the time before the tool's start belongs */
    size_t first = 0;
    while (first + 1 < profile->thread_count && profile->threads[first].kind != PROFILE_THREAD_INITIAL)
        first++;
    if (first != thread)
        profile->header.before_start_ns = 0;
    return NULL;
}

/* Reads an open file. Returns NULL, or a text that says what is wrong, which may be in to->buffer. */
static const char *profile_read_open_file(int file, const struct chunk_reading *to)
{
    struct profile_header *header = to->header;
    struct stat status;
    if (fstat(file, &status) != 0)
        return "cannot be examined";
    if (S_ISDIR(status.st_mode))
        return "this is a directory, not a measurement file";
    if (!S_ISREG(status.st_mode))
        return "this is a device, pipe or socket, not a measurement file";
    if (status.st_size == 0)
        return "empty: the program ended before the measurement began";
    if (status.st_size < (off_t)sizeof *header)
        return "not a blame profile (too short)";
    if (!profile_read_exactly_at(file, header, sizeof *header, 0))
        return "cannot be read";
    static const struct profile_header unwritten;
    if (memcmp(header, &unwritten, sizeof unwritten) == 0)
        return "empty: the program ended before the measurement began";
    const char *wrong = profile_header_check(header);
    if (wrong == NEWER) {
        snprintf(
            to->buffer, to->buffer_bytes,
            "made by a newer blame (format %u; this one reads formats up to %u): install that version of blame, or a "
            "newer one",
            header->version, PROFILE_VERSION);
        return to->buffer;
    }
    return wrong ? wrong : profile_load_chunks(file, status.st_size, to);
}

static const char *profile_read_chunks_of_file(const char *path, const struct chunk_reading *to)
{
    /* O_NONBLOCK: opening a FIFO must not wait for a writer */
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    *to->bytes = NULL;
    if (file < 0) {
        snprintf(to->buffer, to->buffer_bytes, "cannot be opened: %s", strerror(errno));
        return to->buffer;
    }
    const char *wrong = profile_read_open_file(file, to);
    close(file);
    return wrong;
}

const char *profile_read_chunks(const char *path, struct profile_header *header, unsigned char **bytes, char *buffer,
                                size_t buffer_bytes)
{
    return profile_read_chunks_of_file(path,
                                       &(struct chunk_reading){ALL_THREADS, header, bytes, NULL, buffer, buffer_bytes});
}

static void profile_count_trace(const struct profile_chunks *chunks, struct profile *profile)
{
    for (uint32_t n = 0; n < chunks->count; n++) {
        const struct profile_trace_chunk *chunk = (const void *)profile_chunk_at(chunks, n);
        if (profile_chunk_kind(chunks, n) != PROFILE_CHUNK_TRACE)
            continue;
        profile->trace_samples += chunk->samples;
        profile->trace_bytes += chunk->used < PROFILE_CHUNK_BYTES ? chunk->used : PROFILE_CHUNK_BYTES;
    }
}

/* Flags the modules of runtimes that started after they were written to the file. */
static void profile_flag_later_runtimes(struct profile *profile)
{
    const char *path = NULL;
    while ((path = profile_text_next(profile, "later_runtime_path", path)))
        for (size_t i = 0; i < profile->module_count; i++)
            if (strcmp(profile->modules[i].path, path) == 0)
                profile->modules[i].flags |= PROFILE_MODULE_RUNTIME;
}

/* Counts no thread as idle before the tool's start if the OpenMP runtime is linked into the program. That
 * runtime may have kept all threads busy before the tool saw it. */
static void profile_excuse_start(struct profile *profile)
{
    struct profile_header *header = &profile->header;
    if (!header->merged && header->threads_max && profile_text(profile, "static_runtime"))
        header->before_inverse_busy_ns = (double)header->before_start_ns / header->threads_max;
}

/* Fills *profile. Returns NULL, or a text that says what is wrong, which may be in `buffer`. */
static const char *profile_read_records(struct profile_chunks *chunks, size_t thread, struct profile *profile,
                                        char *buffer, size_t buffer_bytes)
{
    const char *wrong = profile_read_threads(chunks, profile);
    if (!wrong && thread < OUTLINE)
        wrong = profile_select_thread(profile, thread, buffer, buffer_bytes);
    chunks->only_tree = profile->tree;
    if (!wrong)
        wrong = profile_read_ranks(chunks, profile);
    if (!wrong) {
        profile_read_modules(chunks, profile);
        profile_read_text(chunks, profile);
        profile_count_threads(profile);
        profile_flag_later_runtimes(profile);
        profile_excuse_start(profile);
        profile_read_names(chunks, profile);
        profile_count_trace(chunks, profile);
    }
    if (wrong || thread == OUTLINE)
        return wrong;
    wrong = profile_merge(chunks, profile, NULL);
    if (!wrong)
        wrong = profile_read_lock_waits(chunks, profile);
    if (!wrong)
        profile_complete_killed(profile);
    return wrong;
}

struct profile *profile_read_thread(const char *path, size_t thread, char *error, size_t error_bytes)
{
    char buffer[160];
    struct profile *profile = memory_array(1, sizeof *profile);
    profile->path = memory_text("%s", path);
    unsigned char *bytes;
    bool mapped = false;
    const struct chunk_reading to = {thread, &profile->header, &bytes, &mapped, buffer, sizeof buffer};
    const char *wrong = profile_read_chunks_of_file(path, &to);
    struct profile_chunks chunks = {.bytes = bytes, .count = profile->header.chunk_count};
    if (!wrong) {
        chunks.done = mapped ? mapped_drop : NULL;
        profile_note_kinds(&chunks);
        wrong = profile_read_records(&chunks, thread, profile, buffer, sizeof buffer);
    }
    if (mapped)
        mapped_end(bytes, chunks.count);
    else
        free(bytes);
    free(chunks.chunk_kind);
    free(chunks.node_kinds);
    if (wrong) {
        snprintf(error, error_bytes, "%s: %s", path, wrong);
        profile_free(profile);
        return NULL;
    }
    if (profile->header.cores == 0)
        profile->header.cores = 1;
    return profile;
}

struct profile *profile_read(const char *path, char *error, size_t error_bytes)
{
    return profile_read_thread(path, ALL_THREADS, error, error_bytes);
}

struct profile *profile_read_outline(const char *path, char *error, size_t error_bytes)
{
    return profile_read_thread(path, OUTLINE, error, error_bytes);
}

bool profile_read_header(const char *path, struct profile_header *header)
{
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool good = file >= 0 && profile_read_exactly_at(file, header, sizeof *header, 0) && !profile_header_check(header);
    if (file >= 0)
        close(file);
    return good;
}
