#include "ompt_tool/ranks/ranks_join.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/atomics.h"
#include "base/entries.h"
#include "base/hash.h"
#include "base/launcher.h"
#include "base/log.h"
#include "base/os.h"
#include "cct/arena.h"
#include "ompt_tool/ranks/ranks_lines.h"
#include "ompt_tool/session/job.h"
#include "ompt_tool/session/session.h"
#include "unwind/loadmap.h"

/* maximum number of attempts to join while other processes are still closing an earlier segment */
#define ATTEMPTS 100
#define PAUSE_US 1000
#define LOOKS    4096 /* maximum number of names in /dev/shm that are examined */

#define SHARED "/dev/shm/"

/* Number of bytes of /dev/shm that must stay free, because LLVM's runtime crashes when /dev/shm is full. */
#define LEFT_BYTES (1 << 20)

struct ranks_program ranks_program;

static struct {
    struct ranks_segment *segment;
    char path[64];
    uint32_t own, local;
    uint32_t has_come;
    /* true if the segment's name includes the namespace of process ids, so that ids can be compared */
    bool knows_numbers;
} joined;

static void ranks_know_program(void)
{
    const struct loadmap_range *range = loadmap_find(getauxval(AT_ENTRY));
    const struct loadmap_module *module = range ? loadmap_module(range->module_id) : NULL;
    if (!module || !module->build_id_bytes)
        return;
    ranks_program = (struct ranks_program){range->start, range->end - range->start, range->load_bias,
                                           hash_bytes(module->build_id, module->build_id_bytes)};
}

/* Chooses the path of the segment, the shared memory of the job's ranks on this node. The path includes the
 * namespace of process ids, because a process cannot ask whether a process in another namespace is alive. */
static void ranks_segment_choose_path(const char *identity)
{
    struct stat numbers = {0};
    joined.knows_numbers = stat("/proc/self/ns/pid", &numbers) == 0;
    snprintf(joined.path, sizeof(joined.path), SHARED "blame-%u-%llu-%016llx", (unsigned)geteuid(),
             (unsigned long long)numbers.st_ino, (unsigned long long)hash_bytes(identity, strlen(identity)));
}

/* Returns the address of the mapped segment; NULL with errno set on failure. */
static struct ranks_segment *ranks_segment_map(int fd)
{
    struct stat found;
    if (fstat(fd, &found) != 0 || !os_reserve(fd, 0, RANKS_HEADER_BYTES))
        return NULL;
    if (!S_ISREG(found.st_mode) || found.st_uid != geteuid()) {
        errno = EACCES;
        return NULL;
    }
    struct ranks_segment *segment = os_map_shared(fd, 0, RANKS_BYTES);
    uint32_t version = 0;
    if (segment && !compare_exchange(&segment->version, &version, RANKS_VERSION) && version != RANKS_VERSION) {
        os_unmap(segment, RANKS_BYTES);
        errno = EPROTO;
        return NULL;
    }
    return segment;
}

/* Returns true if a living process already has this rank. */
static bool ranks_segment_has_rank(const struct ranks_segment *segment, uint32_t rank)
{
    for (uint32_t i = 0; i < RANKS_MAX && i < load_acquire(&segment->high); i++) {
        uint64_t owner = load_acquire(&segment->owner[i]);
        if ((owner & RANKS_READY) && segment->line[i].rank == rank && !ranks_has_gone(segment, i) &&
            !os_is_dead(RANKS_OWNER_PID(owner)))
            return true;
    }
    return false;
}

/* Takes a line of the segment for this process. Returns 0 or an errno value, which is EAGAIN if the segment
 * was closed meanwhile. */
static int ranks_segment_take_line(struct ranks_segment *segment, int fd, uint32_t rank)
{
    uint32_t own = ranks_lines_claim(segment, getpid());
    if (own == RANKS_MAX)
        return ENOSPC;
    int error = 0;
    if (ranks_lines_are_closed(segment))
        error = EAGAIN;
    else if (!os_reserve(fd, RANKS_HEADER_BYTES + own * sizeof(struct ranks_line), sizeof(struct ranks_line)))
        error = errno;
    else if (ranks_segment_has_rank(segment, rank))
        error = EEXIST;
    if (error) {
        ranks_lines_give_back(segment, own);
        /* a process that left meanwhile has seen this claimed line, and has therefore not removed the name */
        if (ranks_lines_leave(segment))
            unlink(joined.path);
        return error;
    }
    joined.segment = segment;
    joined.own = own;
    ranks_use(segment, own, rank, ranks_program.build);
    ranks_lines_show(segment, own, getpid());
    return 0;
}

static bool ranks_shared_memory_has_room(void)
{
    struct statvfs found;
    return statvfs(SHARED, &found) != 0 || !found.f_blocks || found.f_bavail * found.f_frsize >= LEFT_BYTES;
}

static int ranks_try_to_join(uint32_t rank)
{
    if (!ranks_shared_memory_has_room())
        return ENOSPC;
    int fd = open(joined.path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return errno;
    struct ranks_segment *segment = ranks_segment_map(fd);
    int error = segment ? ranks_segment_take_line(segment, fd, rank) : errno;
    if (segment && error)
        os_unmap(segment, RANKS_BYTES);
    close(fd);
    return error;
}

/* Returns true if the file contains all lines that can be read. Another process may have truncated the file. */
static bool ranks_segment_has_all_lines(const struct ranks_segment *segment, off_t bytes)
{
    for (size_t i = 0; i < RANKS_MAX; i++)
        if ((load_acquire(&segment->owner[i]) & RANKS_READY) &&
            RANKS_HEADER_BYTES + (i + 1) * sizeof(struct ranks_line) > (size_t)bytes)
            return false;
    return true;
}

/* Removes a segment whose processes are all dead. */
static void ranks_segment_remove_left(const char *path)
{
    struct stat found;
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return;
    struct ranks_segment *segment = NULL;
    if (fstat(fd, &found) == 0 && S_ISREG(found.st_mode) && found.st_uid == geteuid() &&
        (size_t)found.st_size >= RANKS_HEADER_BYTES)
        segment = os_map_shared(fd, 0, RANKS_BYTES);
    close(fd);
    if (!segment)
        return;
    if (load_acquire(&segment->version) == RANKS_VERSION && ranks_segment_has_all_lines(segment, found.st_size) &&
        ranks_lines_leave(segment))
        unlink(path);
    os_unmap(segment, RANKS_BYTES);
}

static bool ranks_segment_look(const char *name, void *looks)
{
    const char *own = joined.path + strlen(SHARED);
    size_t same = (size_t)(strrchr(own, '-') + 1 - own);
    char path[sizeof(joined.path)];
    if (strncmp(name, own, same) == 0 && strlen(name) == strlen(own) && strcmp(name, own) != 0) {
        snprintf(path, sizeof(path), SHARED "%.*s", (int)strlen(own), name);
        ranks_segment_remove_left(path);
    }
    return ++*(int *)looks < LOOKS;
}

/* Removes the segments of jobs that were killed before all their ranks had arrived. */
static void ranks_segments_remove_left(void)
{
    int looks = 0;
    if (joined.knows_numbers)
        entries_visit(SHARED, ranks_segment_look, &looks);
}

void ranks_join(void)
{
    const struct job *shared = session.job;
    struct job job;
    if (!job_find(&job) || !(job.ranked || shared))
        return;
    if (!job.ranked)
        job.rank = shared->rank;
    ranks_know_program();
    ranks_segment_choose_path(job.identity);
    int error = EAGAIN;
    for (int i = 0; error == EAGAIN && i < ATTEMPTS; i++) {
        if (i)
            usleep(PAUSE_US);
        error = ranks_try_to_join(job.rank);
    }
    if (!error) {
        arena_header()->ranks_seen = 1;
        joined.local = launcher_local_ranks();
        if (joined.own == 0) /* only one process of the job does this */
            ranks_segments_remove_left();
    } else if (error != EEXIST && job.rank == 0) { /* only one process of the job reports this */
        log_line(joined.path, ": ", strerror(error), "; the profile cannot show which rank makes others wait", NULL);
    }
}

/* Counts this process as arrived. Only processes that call MPI count, because a rank may first start other
 * programs that do not use MPI. After the last arrival, no process looks for the segment's name any more. */
void ranks_come(void)
{
    struct ranks_segment *segment = load_relaxed(&joined.segment);
    if (likely(load_relaxed(&joined.has_come)) || fetch_or_acq_rel(&joined.has_come, 1) || !segment ||
        !ranks_are_seen())
        return;
    if (ranks_lines_have_all_come(segment, joined.local)) {
        int saved = errno;
        unlink(joined.path);
        errno = saved;
    }
}

void ranks_leave(void)
{
    struct ranks_segment *segment = joined.segment;
    if (!segment || !ranks_are_seen()) /* this process is not a rank, or is a forked child */
        return;
    joined.segment = NULL;
    ranks_disappear();
    ranks_stop();
    if (ranks_lines_leave(segment))
        unlink(joined.path);
}
