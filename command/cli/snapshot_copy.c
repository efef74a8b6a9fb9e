#include "command/cli/snapshot_copy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/text/memory.h"

#define MOST_READINGS 8

bool snapshot_read(int file, char *to, size_t bytes, off_t at)
{
    for (size_t done = 0; done < bytes;) {
        ssize_t got = pread(file, to + done, bytes - done, at + (off_t)done);
        if (got == 0)
            errno = EIO;
        if (got <= 0 && errno != EINTR)
            return false;
        done += got > 0 ? (size_t)got : 0;
    }
    return true;
}

static bool snapshot_write(int file, const char *from, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        ssize_t put = write(file, from + done, bytes - done);
        if (put < 0 && errno != EINTR)
            return false;
        done += put > 0 ? (size_t)put : 0;
    }
    return true;
}

/* Reads a chunk repeatedly, until two readings are equal and so show its state at one time. If it keeps
 * changing, the last reading is used. */
static bool read_steady_chunk(int from, uint32_t chunk_no, char *chunk, char *again)
{
    off_t at = (off_t)PROFILE_HEADER_BYTES + (off_t)chunk_no * PROFILE_CHUNK_BYTES;
    bool good = snapshot_read(from, chunk, PROFILE_CHUNK_BYTES, at);
    for (int i = 0; good && i < MOST_READINGS; i++) {
        good = snapshot_read(from, again, PROFILE_CHUNK_BYTES, at);
        if (good && memcmp(chunk, again, PROFILE_CHUNK_BYTES) == 0)
            break;
        memcpy(chunk, again, PROFILE_CHUNK_BYTES);
    }
    return good;
}

bool snapshot_copy(int from, int to, const struct profile_header *header)
{
    char page[PROFILE_HEADER_BYTES] = "", *chunk = memory_array(2, PROFILE_CHUNK_BYTES);
    memcpy(page, header, sizeof *header);
    bool good = snapshot_write(to, page, sizeof page);
    for (uint32_t i = 0; good && i < header->chunk_count; i++)
        good = read_steady_chunk(from, i, chunk, chunk + PROFILE_CHUNK_BYTES) &&
               snapshot_write(to, chunk, PROFILE_CHUNK_BYTES);
    int cause = errno;
    free(chunk);
    errno = cause;
    return good;
}

/* Returns whether a thread record that was copied still describes the same thread. */
static bool is_same_thread(const struct profile_thread *now, const struct profile_thread *then)
{
    return now->tid == then->tid && now->begin_ns == then->begin_ns;
}

static bool note_deliveries_in_chunk(int from, int to, off_t at)
{
    const size_t bytes = PROFILE_THREAD_BYTES, most = PROFILE_CHUNK_BYTES / bytes;
    struct profile_thread then, now;
    bool good = true;
    for (size_t i = 1; good && i < most; i++) {
        off_t place = at + (off_t)(i * bytes);
        good = snapshot_read(from, (char *)&now, sizeof now, place) &&
               snapshot_read(to, (char *)&then, sizeof then, place);
        if (!good || !then.kind || !is_same_thread(&now, &then) || now.delivered <= then.delivered)
            continue;
        place += (off_t)offsetof(struct profile_thread, delivered);
        good = pwrite(to, &now.delivered, sizeof now.delivered, place) == (ssize_t)sizeof now.delivered;
    }
    return good;
}

bool snapshot_note_later(int from, int to, const struct profile_header *header)
{
    bool good = true;
    for (uint32_t i = 0; good && i < header->chunk_count; i++) {
        struct profile_chunk chunk;
        off_t at = (off_t)PROFILE_HEADER_BYTES + (off_t)i * PROFILE_CHUNK_BYTES;
        good = snapshot_read(to, (char *)&chunk, sizeof chunk, at) &&
               (chunk.kind != PROFILE_CHUNK_THREAD || note_deliveries_in_chunk(from, to, at));
    }
    return good;
}
