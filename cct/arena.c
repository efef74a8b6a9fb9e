#include "cct/arena.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/atomics.h"
#include "base/clock.h"
#include "base/os.h"

#define RETRY_NS 100000000ull /* after the file could not grow, ns until the next attempt */
/* number of chunks in one mapping (an extent); Linux allows a process 65,530 mappings, most of which are left
 * to the program */
#define EXTENT_CHUNKS 64u
#define AHEAD_CHUNKS  16u /* maximum number of chunks for which disk space is reserved in advance */
#define AHEAD_SHARE   8u  /* disk space is reserved in advance for 1/8 as many chunks as the file has */

/* The chunk that arena_record() or arena_text() is filling. */
struct filling {
    struct profile_chunk *chunk;
    uint32_t count; /* number of records in earlier chunks of the kind */
};

/* a variable outside `arena`, because `arena` must be all zero to take no space in the library's file */
static int arena_fd = -1;
static struct {
    /* device and inode of the file, to detect that the program has reused our descriptor number */
    uint64_t device, inode;
    char path[PATH_MAX];
    struct profile_header *header;
    uint32_t next_chunk;
    uint32_t tree_chunks;
    uint32_t reserved; /* number of chunks that have disk space; these are the first ones */
    uint64_t retry_ns; /* time of the next attempt to grow, after a failure; 0: the last attempt succeeded */
    struct filling threads, modules, names, text;
    struct profile_chunk *chunks[PROFILE_MAX_CHUNKS];
    /* address of each extent's first chunk; NULL: the extent is not mapped */
    char *extents[PROFILE_MAX_CHUNKS / EXTENT_CHUNKS];
} arena;

static uint64_t arena_chunk_offset(uint32_t chunk_no)
{
    return PROFILE_HEADER_BYTES + (uint64_t)chunk_no * PROFILE_CHUNK_BYTES;
}

static void arena_fill_header(struct profile_header *header)
{
    profile_header_identify(header);
    header->pid = getpid();
}

/* Returns true if the descriptor still refers to the measurement file. A program that closes all descriptors
 * also closes ours, and may then open a file of its own under the same number. */
static bool is_arena_file(int fd)
{
    uint64_t device, inode;
    return fd >= 0 && os_file_id(fd, &device, &inode) && device == arena.device && inode == arena.inode;
}

/* Returns a descriptor of the measurement file, reopened if necessary; -1 on failure. */
static int arena_file(void)
{
    int fd = load_relaxed(&arena_fd);
    if (is_arena_file(fd))
        return fd;
    int fresh = os_move_high(os_open_write(arena.path));
    if (is_arena_file(fresh) && compare_exchange(&arena_fd, &fd, fresh))
        return fresh;
    if (fresh >= 0)
        os_close(fresh);
    return is_arena_file(fd) ? fd : -1; /* another thread may have reopened the file already */
}

static void close_arena_file(void)
{
    if (is_arena_file(arena_fd))
        /* This runs in fork(), by arena_abandon(). fork() is not a cancellation point, but close() is one. */
        os_close(arena_fd);
    arena_fd = -1;
}

bool arena_open(const char *path, mode_t mode)
{
    if (strlen(path) >= sizeof(arena.path)) {
        errno = ENAMETOOLONG;
        return false;
    }
    int fd = os_move_high(open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode));
    if (fd < 0)
        return false;
    struct profile_header *header = NULL;
    if (os_file_id(fd, &arena.device, &arena.inode) && os_reserve(fd, 0, PROFILE_HEADER_BYTES))
        header = os_map_shared(fd, 0, PROFILE_HEADER_BYTES);
    if (!header) {
        int cause = errno;
        close(fd);
        unlink(path);
        errno = cause;
        return false;
    }
    arena_fill_header(header);
    strcpy(arena.path, path);
    arena_fd = fd;
    arena.header = header;
    return true;
}

void arena_abandon(void)
{
    close_arena_file();
    /* The parent's chunks stay mapped, but the child forgets their addresses and writes nothing there. */
    uint32_t used = arena.next_chunk < PROFILE_MAX_CHUNKS ? arena.next_chunk : PROFILE_MAX_CHUNKS;
    memset(arena.chunks, 0, used * sizeof(arena.chunks[0]));
    memset(arena.extents, 0, sizeof(arena.extents));
    arena.header = NULL;
    arena.next_chunk = arena.reserved = arena.tree_chunks = 0;
    arena.retry_ns = 0;
    arena.threads = arena.modules = arena.names = arena.text = (struct filling){NULL, 0};
}

void arena_finish(void)
{
    if (arena.header)
        store_release(&arena.header->finished, 1);
    close_arena_file();
}

bool arena_flush(void)
{
    /* a direct system call is not a cancellation point */
    return arena_fd >= 0 && syscall(SYS_fdatasync, arena_file()) == 0;
}

bool arena_is_open(void)
{
    return arena_fd >= 0;
}

struct profile_header *arena_header(void)
{
    return arena.header;
}

static void arena_raise_chunk_count(uint32_t count)
{
    uint32_t seen = load_relaxed(&arena.header->chunk_count);
    while (seen < count && !compare_exchange(&arena.header->chunk_count, &seen, count))
        ;
}

/* Reserves disk space for the chunk and, if possible, for some chunks after it. Other threads may already be
 * using those later chunks. */
static bool arena_reserve_chunk(uint32_t number)
{
    uint32_t first = load_acquire(&arena.reserved), ahead = number / AHEAD_SHARE;
    uint32_t end = number + 1 + (ahead < AHEAD_CHUNKS ? ahead : AHEAD_CHUNKS);
    if (number < first)
        return true;
    int fd = arena_file();
    if (fd < 0)
        return false;
    if (!os_reserve_shared(fd, arena_chunk_offset(first), (size_t)(end - first) * PROFILE_CHUNK_BYTES))
        return os_reserve(fd, arena_chunk_offset(number), PROFILE_CHUNK_BYTES);
    while (first < end && !compare_exchange(&arena.reserved, &first, end))
        ;
    return true;
}

/* Returns the chunk's memory. An extent is mapped as a whole, although it may extend beyond the end of the
 * file. No thread touches a chunk before the chunk's disk space exists (A1). If the extent cannot be mapped,
 * only the chunk is mapped. */
static void *arena_map_chunk(uint32_t number)
{
    char **place = &arena.extents[number / EXTENT_CHUNKS], *extent = load_acquire(place);
    uint32_t first = number - number % EXTENT_CHUNKS;
    size_t bytes = (size_t)EXTENT_CHUNKS * PROFILE_CHUNK_BYTES;
    if (!extent) {
        int fd = arena_file();
        char *fresh = os_map_shared(fd, arena_chunk_offset(first), bytes);
        if (!fresh)
            return os_map_shared(fd, arena_chunk_offset(number), PROFILE_CHUNK_BYTES);
        if (compare_exchange(place, &extent, fresh))
            extent = fresh;
        else
            os_unmap(fresh, bytes); /* another thread has already mapped the extent */
    }
    return extent + (size_t)(number - first) * PROFILE_CHUNK_BYTES;
}

uint32_t arena_tree_chunks(void)
{
    return load_relaxed(&arena.tree_chunks);
}

void arena_note_refusal(int error)
{
    struct profile_header *header = arena.header;
    uint32_t none = 0;
    struct rlimit limit = {.rlim_cur = RLIM_INFINITY};
    if (!header || !compare_exchange(&header->room_error, &none, (uint32_t)error))
        return;
    if (error == EFBIG || error == ENOMEM)
        getrlimit(error == EFBIG ? RLIMIT_FSIZE : RLIMIT_AS, &limit);
    header->room_limit = limit.rlim_cur;
}

struct profile_chunk *arena_chunk(enum profile_chunk_kind kind, uint32_t owner, uint32_t *chunk_no)
{
    if (arena_fd < 0)
        return NULL;
    uint64_t retry_ns = load_relaxed(&arena.retry_ns);
    if (retry_ns && clock_now_ns() < retry_ns)
        return NULL;
    uint32_t number = load_relaxed(&arena.next_chunk) < PROFILE_MAX_CHUNKS ? fetch_add_relaxed(&arena.next_chunk, 1)
                                                                           : PROFILE_MAX_CHUNKS;
    if (number >= PROFILE_MAX_CHUNKS) {
        arena_note_refusal(EOVERFLOW);
        return NULL;
    }
    struct profile_chunk *chunk = arena_reserve_chunk(number) ? arena_map_chunk(number) : NULL;
    if (!chunk) {
        uint32_t next = number + 1;
        arena_note_refusal(errno);
        /* return the number, unless another thread has taken a later one */
        compare_exchange(&arena.next_chunk, &next, number);
        store_relaxed(&arena.retry_ns, clock_now_ns() + RETRY_NS);
        return NULL;
    }
    store_relaxed(&arena.retry_ns, 0);
    chunk->owner = owner;
    chunk->used = kind == PROFILE_CHUNK_TREE || kind == PROFILE_CHUNK_TIME ? 1 : 0;
    chunk->metric_unit = PROFILE_UNITS_PER_CHUNK;
    store_release(&chunk->kind, (uint32_t)kind);
    if (kind == PROFILE_CHUNK_TREE)
        fetch_add_relaxed(&arena.tree_chunks, 1);
    store_release(&arena.chunks[number], chunk); /* A2, pairs with arena_unit() */
    arena_raise_chunk_count(number + 1);
    *chunk_no = number;
    return chunk;
}

void *arena_unit(uint32_t unit_idx)
{
    struct profile_chunk *chunk = load_acquire(&arena.chunks[unit_idx / PROFILE_UNITS_PER_CHUNK]);
    return (char *)chunk + (size_t)(unit_idx % PROFILE_UNITS_PER_CHUNK) * PROFILE_UNIT_BYTES;
}

void *arena_record(enum profile_chunk_kind kind, uint32_t *number)
{
    struct filling *filling = kind == PROFILE_CHUNK_THREAD   ? &arena.threads
                              : kind == PROFILE_CHUNK_MODULE ? &arena.modules
                                                             : &arena.names;
    uint32_t bytes = kind == PROFILE_CHUNK_THREAD   ? PROFILE_THREAD_BYTES
                     : kind == PROFILE_CHUNK_MODULE ? PROFILE_MODULE_BYTES
                                                    : PROFILE_NAME_BYTES;
    uint32_t room = PROFILE_CHUNK_BYTES / bytes - 1; /* the chunk's header takes the space of one record */
    if (!filling->chunk || filling->chunk->used == room) {
        uint32_t unused;
        struct profile_chunk *chunk = arena_chunk(kind, 0, &unused);
        if (!chunk)
            return NULL;
        if (filling->chunk)
            filling->count += room;
        filling->chunk = chunk;
    }
    uint32_t place = filling->chunk->used;
    *number = filling->count + place;
    store_release(&filling->chunk->used, place + 1);
    return (char *)filling->chunk + (size_t)(place + 1) * bytes;
}

bool arena_text(const char *key, const char *value)
{
    size_t key_bytes = strlen(key) + 1, value_bytes = strlen(value) + 1;
    size_t room = PROFILE_CHUNK_BYTES - PROFILE_UNIT_BYTES;
    if (key_bytes + value_bytes > room)
        return false;
    struct filling *filling = &arena.text;
    if (!filling->chunk || filling->chunk->used + key_bytes + value_bytes > room) {
        uint32_t unused;
        struct profile_chunk *chunk = arena_chunk(PROFILE_CHUNK_TEXT, 0, &unused);
        if (!chunk)
            return false;
        filling->chunk = chunk;
    }
    char *place = (char *)filling->chunk + PROFILE_UNIT_BYTES + filling->chunk->used;
    memcpy(place, key, key_bytes);
    memcpy(place + key_bytes, value, value_bytes);
    store_release(&filling->chunk->used, filling->chunk->used + (uint32_t)(key_bytes + value_bytes));
    return true;
}
