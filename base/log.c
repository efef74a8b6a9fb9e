#include "base/log.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/atomics.h"
#include "base/clock.h"
#include "base/launcher.h"
#include "base/os.h"
#include "base/same_file.h"

#define LINE_BYTES 1024
#define NS_PER_MS  1000000ull
/* maximum number of writes that may fail because other processes fill the pipe first */
#define MAX_REFUSED 100

/* Appends text from any source to a line. Bytes that could move a terminal's cursor or end the line become
 * '?'. */
static size_t append_log_text(char *line, size_t used, const char *text)
{
    for (; *text && used < LINE_BYTES - 1; text++) {
        unsigned char byte = (unsigned char)*text;
        line[used++] = byte < ' ' || byte == 0x7f ? '?' : *text;
    }
    return used;
}

static struct {
    bool known, closed;
    struct stat status;
} begun;

/* ns that the process may still spend waiting for readers, over all calls */
static uint64_t patience_ns = NS_PER_S;

void log_begin(void)
{
    if (!begun.known)
        begun.closed = fstat(STDERR_FILENO, &begun.status) != 0;
    begun.known = true;
}

bool log_is_open(void)
{
    struct stat now;
    return !begun.known || (!begun.closed && fstat(STDERR_FILENO, &now) == 0 && is_same_file(&now, &begun.status));
}

bool log_was_open(void)
{
    return begun.known && !begun.closed && !log_is_open();
}

const char *log_file(char buffer[LOG_FILE_BYTES])
{
    log_begin();
    buffer[0] = '\0';
    if (!begun.closed)
        snprintf(buffer, LOG_FILE_BYTES, "%ju:%ju", (uintmax_t)begun.status.st_dev, (uintmax_t)begun.status.st_ino);
    return buffer;
}

static long log_poll_stderr(struct pollfd *end, int wait_ms)
{
#ifdef SYS_poll
    return syscall(SYS_poll, end, 1, wait_ms);
#else
    struct timespec wait = {.tv_sec = wait_ms / 1000, .tv_nsec = wait_ms % 1000 * (long)NS_PER_MS};
    return syscall(SYS_ppoll, end, 1, &wait, NULL, 0);
#endif
}

/* Waits until the pipe has room. It uses poll(), because O_NONBLOCK would affect all processes that share the
 * pipe. Returns false if the process has no patience left. */
static bool log_wait_for_room(void)
{
    struct pollfd end = {STDERR_FILENO, POLLOUT, 0};
    long ready = log_poll_stderr(&end, 0);
    uint64_t left_ns;
    while (ready <= 0 && (ready == 0 || errno == EINTR) && (left_ns = load_relaxed(&patience_ns)) > 0) {
        uint64_t begin_ns = clock_now_ns();
        ready = log_poll_stderr(&end, (int)(left_ns / NS_PER_MS + 1));
        uint64_t took_ns = clock_now_ns() - begin_ns;
        store_relaxed(&patience_ns, took_ns < left_ns ? left_ns - took_ns : 0);
    }
    return ready > 0 || (ready < 0 && errno == EINVAL); /* RLIMIT_NOFILE is 0, so poll() always fails */
}

/* Writes at most PIPE_BUF bytes, as many as fit into a pipe that has room. Another process may fill the pipe
 * first, so the write does not wait (RWF_NOWAIT). Terminals and older kernels do not support that flag, and
 * files may reject it. */
static ssize_t write_log_piece(const char *bytes, size_t count)
{
    struct iovec piece = {(void *)bytes, count};
    struct stat status;
    if (fstat(STDERR_FILENO, &status) == 0 && !S_ISREG(status.st_mode)) {
        ssize_t written = syscall(SYS_pwritev2, STDERR_FILENO, &piece, 1ul, -1l, -1l, RWF_NOWAIT);
        if (written >= 0 || errno == EAGAIN)
            return written;
    }
    return os_write(STDERR_FILENO, bytes, count);
}

void log_write(const char *bytes, size_t count)
{
    struct os_write_guard guard;
    int refused = 0;
    os_guard_writes(&guard);
    while (count && log_is_open() && log_wait_for_room()) {
        ssize_t written = write_log_piece(bytes, count < PIPE_BUF ? count : PIPE_BUF);
        if (written > 0) {
            bytes += written;
            count -= (size_t)written;
        } else if (written == 0 || (errno != EAGAIN && errno != EINTR) || refused++ == MAX_REFUSED) {
            break;
        }
    }
    os_unguard_writes(&guard);
}

static void write_log_list(const char *first, va_list list)
{
    char line[LINE_BYTES];
    size_t used = append_log_text(line, 0, "blame: ");
    for (const char *text = first; text; text = va_arg(list, const char *))
        used = append_log_text(line, used, text);
    line[used++] = '\n';
    log_write(line, used);
}

void log_line(const char *first, ...)
{
    va_list list;
    va_start(list, first);
    write_log_list(first, list);
    va_end(list);
}

bool log_is_quiet(void)
{
    const char *summary = secure_getenv("BLAME_SUMMARY");
    return summary && strcmp(summary, "0") == 0;
}

void log_line_of_job(const char *first, ...)
{
    va_list list;
    va_start(list, first);
    if (launcher_speaks())
        write_log_list(first, list);
    va_end(list);
}

const char *log_decimal(uint64_t value, char *buffer)
{
    char digits[20];
    int count = 0;
    do
        digits[count++] = (char)('0' + value % 10);
    while (value /= 10);
    for (int i = 0; i < count; i++)
        buffer[i] = digits[count - 1 - i];
    buffer[count] = '\0';
    return buffer;
}

const char *log_word(const char *text, char buffer[LOG_WORD_BYTES])
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789%+,-./:=@_";
    size_t used = 0;
    if (*text && text[strspn(text, plain)] == '\0')
        return text;
    buffer[used++] = '\'';
    for (const char *byte = text; *byte; byte++) {
        if (used + (*byte == '\'' ? 4 : 1) + sizeof("'") > LOG_WORD_BYTES)
            return text;
        if (*byte == '\'') { /* end the quoted part, write a quote, and begin another quoted part */
            buffer[used++] = '\'';
            buffer[used++] = '\\';
            buffer[used++] = '\'';
        }
        buffer[used++] = *byte;
    }
    buffer[used++] = '\'';
    buffer[used] = '\0';
    return buffer;
}
