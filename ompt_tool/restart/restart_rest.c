/* Handler code: system calls are made by kernel_call. Calls with vectors are not continued, because the rest
 * of a vector would have to be stored somewhere. */
#include "restart_rest.h"

#include <fcntl.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>

#include "base/kernel.h"
#include "restart_state.h"

enum {
    MOST_BYTES = 0x7ffff000, /* MAX_RW_COUNT: no call moves more bytes */
    NO_BUFFER = -1,
    /* Major number of the memory devices. The minor numbers below are those of devices that never end. Other
     * memory devices are read record by record (kmsg) or have an end (mem). */
    MEMORY_DEVICES = 1,
    ZERO = 5,
    FULL = 7,
    RANDOM = 8,
    URANDOM = 9,
};

enum from_to {
    ANY,           /* the call moves all bytes, whatever its file is */
    OUT_TO_STREAM, /* the call writes to a blocking pipe or socket */
    /* the call writes to a blocking socket; to a pipe it would write only as much as there is room for */
    OUT_TO_SOCKET,
    IN_ALL,    /* the call reads from a blocking socket, with MSG_WAITALL */
    IN_MEMORY, /* the call reads from a device that never ends */
};

static const struct transfer {
    short call;
    signed char buffer_arg, count_arg;
    uint8_t from_to;
} TRANSFERS[] = {
    {SYS_write, 1, 2, OUT_TO_STREAM}, {SYS_sendto, 1, 2, OUT_TO_STREAM}, {SYS_sendfile, NO_BUFFER, 3, OUT_TO_SOCKET},
    {SYS_recvfrom, 1, 2, IN_ALL},     {SYS_read, 1, 2, IN_MEMORY},       {SYS_getrandom, 0, 1, ANY},
};

static const struct transfer *rest_find_transfer(long call)
{
    for (size_t i = 0; i < sizeof TRANSFERS / sizeof TRANSFERS[0]; i++)
        if (TRANSFERS[i].call == call)
            return &TRANSFERS[i];
    return NULL;
}

static bool transfer_is_partial(const struct transfer *transfer, const uint64_t args[6], uint64_t moved)
{
    uint64_t wanted = transfer ? args[transfer->count_arg] : 0;
    return moved > 0 && moved < wanted && moved < MOST_BYTES;
}

static bool rest_device_always_has_more(const struct stat *file)
{
    uint64_t minor = file->st_rdev & 0xff;
    return S_ISCHR(file->st_mode) && file->st_rdev >> 8 == MEMORY_DEVICES &&
           (minor == ZERO || minor == FULL || minor == RANDOM || minor == URANDOM);
}

/* Returns the value of a socket's option; 0 if the file is not a socket. */
static int rest_socket_option(uint64_t fd, int option)
{
    int value = 0;
    uint32_t size = sizeof value;
    long failed = kernel_call(SYS_getsockopt, fd, SOL_SOCKET, (uint64_t)option, (uint64_t)&value, (uint64_t)&size, 0);
    return failed ? 0 : value;
}

static bool rest_socket_has_limit(uint64_t fd, int option)
{
    struct timeval limit = {0};
    uint32_t size = sizeof limit;
    long failed = kernel_call(SYS_getsockopt, fd, SOL_SOCKET, (uint64_t)option, (uint64_t)&limit, (uint64_t)&size, 0);
    return failed != 0 || limit.tv_sec != 0 || limit.tv_usec != 0;
}

/* Returns what the stub must wait for before it moves the rest. After a reset, a connection keeps an error
 * for the next call that moves nothing. The program's call has moved a part, so it must not return that
 * error. Therefore the rest is moved only when some of it can be. Unix sockets and sendfile drop the error
 * themselves after a part has been moved. */
static struct pollfd rest_is_movable(const struct transfer *transfer, uint64_t fd, bool reads)
{
    bool keeps_error = transfer->call != SYS_sendfile && rest_socket_option(fd, SO_DOMAIN) != AF_UNIX;
    /* poll waits for SO_RCVLOWAT bytes, and fewer may be left */
    if (!keeps_error || (reads && rest_socket_option(fd, SO_RCVLOWAT) > 1))
        return (struct pollfd){0};
    return (struct pollfd){.fd = (int)fd, .events = reads ? POLLIN : POLLOUT};
}

static enum restart_rest rest_of_stream(const struct transfer *transfer, struct restart_frame *job, bool is_socket)
{
    const uint64_t *args = job->args;
    bool has_flags = transfer->call == SYS_sendto || transfer->call == SYS_recvfrom,
         reads = transfer->from_to == IN_ALL;
    uint64_t flags = has_flags ? args[3] : 0;
    long status = kernel_call(SYS_fcntl, args[0], F_GETFL, 0, 0, 0, 0);
    if (status < 0 || status & O_NONBLOCK || flags & MSG_DONTWAIT)
        return REST_NONE;
    if (reads && (flags & (MSG_WAITALL | MSG_PEEK | MSG_OOB | MSG_ERRQUEUE)) != MSG_WAITALL)
        return REST_NONE;
    if (!is_socket)
        return REST_IS_LEFT;
    /* each call moves one message, whatever its flags are */
    if (rest_socket_option(args[0], SO_TYPE) != SOCK_STREAM)
        return REST_NONE;
    if (rest_socket_has_limit(args[0], reads ? SO_RCVTIMEO : SO_SNDTIMEO))
        return REST_LIMITED;
    job->ready = rest_is_movable(transfer, args[0], reads);
    return REST_IS_LEFT;
}

enum restart_rest restart_find_rest(struct restart_frame *job, uint64_t moved)
{
    const struct transfer *transfer = rest_find_transfer((long)job->call);
    const uint64_t *args = job->args;
    struct stat file;
    if (!transfer_is_partial(transfer, args, moved))
        return REST_NONE;
    if (transfer->from_to == ANY)
        return REST_IS_LEFT;
    if (kernel_call(SYS_fstat, args[0], (uint64_t)&file, 0, 0, 0, 0) != 0)
        return REST_NONE;
    if (transfer->from_to == IN_MEMORY)
        return rest_device_always_has_more(&file) ? REST_IS_LEFT : REST_NONE;
    if (!S_ISSOCK(file.st_mode) && !(S_ISFIFO(file.st_mode) && transfer->from_to == OUT_TO_STREAM))
        return REST_NONE;
    return rest_of_stream(transfer, job, S_ISSOCK(file.st_mode));
}

bool restart_may_have_rest(const struct restart_frame *job, uint64_t moved)
{
    const struct transfer *transfer = rest_find_transfer((long)job->call);
    return transfer_is_partial(transfer, job->args, moved) && transfer->from_to != IN_MEMORY;
}

bool restart_has_rest(const struct restart_frame *job, uint64_t moved)
{
    return job->result_known && transfer_is_partial(rest_find_transfer((long)job->call), job->args, moved);
}

void restart_take_rest(struct restart_frame *job, uint64_t moved)
{
    const struct transfer *transfer = rest_find_transfer((long)job->call);
    uint64_t *wanted = &job->args[transfer->count_arg];
    *wanted = (*wanted < MOST_BYTES ? *wanted : MOST_BYTES) - moved;
    if (transfer->buffer_arg != NO_BUFFER)
        job->args[transfer->buffer_arg] += moved;
    if (job->call == SYS_write && rest_socket_option(job->args[0], SO_TYPE)) {
        job->call = SYS_sendto;
        job->args[3] = job->args[4] = job->args[5] = 0;
    }
    if (job->call == SYS_sendto) /* if the peer has gone meanwhile, the program's next call reports it */
        job->args[3] |= MSG_NOSIGNAL;
    job->result_known += moved;
}
