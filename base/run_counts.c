/* The rules in ompt_tool/sampling/sampler.c hold for this code, too. All system calls are plain ones, not
 * cancellation points. */
#include "base/run_counts.h"

#include <stddef.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/atomics.h"
#include "base/kernel.h"
#include "base/os.h"

#define MOST_KEPT 1024u
#define SHARE     16u /* at most 1/SHARE of RLIMIT_NOFILE is used for these files */

static const char own[] = "/proc/thread-self/schedstat";
static uint32_t kept;

static bool run_file_is_ours(const struct run_file *file)
{
    uint64_t device, inode;
    return os_file_id(file->fd, &device, &inode) && device == file->device && inode == file->inode;
}

static uint32_t most_run_files(void)
{
    struct rlimit limit = {.rlim_cur = 0};
    getrlimit(RLIMIT_NOFILE, &limit);
    return limit.rlim_cur / SHARE < MOST_KEPT ? (uint32_t)(limit.rlim_cur / SHARE) : MOST_KEPT;
}

static bool run_file_has_room(void)
{
    uint32_t before = fetch_add_relaxed(&kept, 1), most = most_run_files();
    if (before == 0) /* normally the process has only one thread at this time */
        os_expect_high((int)most);
    return before < most;
}

static void forget_run_file(struct run_file *file)
{
    file->fd = 0;
    fetch_add_relaxed(&kept, -1u);
}

bool run_file_keep(struct run_file *file)
{
    int fd = run_file_has_room() ? os_open_read(own) : -1, high = fd >= 0 ? os_high_copy(fd) : -1;
    if (fd >= 0)
        os_close(fd);
    if (high >= 0 && os_file_id(high, &file->device, &file->inode)) {
        file->fd = high;
        return true;
    }
    forget_run_file(file);
    return false;
}

void run_file_let_go(struct run_file *file)
{
    if (!file->fd)
        return;
    if (run_file_is_ours(file))
        os_close(file->fd);
    forget_run_file(file);
}

/* Reads a number that is followed by the byte `end`. Returns the text after that byte; NULL if the text has
 * another form. */
static const char *parse_run_count(const char *text, char end, uint64_t *value)
{
    const char *at = text;
    uint64_t sum = 0;
    for (unsigned digit; (digit = (unsigned)*at - '0') <= 9; at++)
        sum = 10 * sum + digit;
    *value = sum;
    return at > text && *at == end ? at + 1 : NULL;
}

static bool parse_run_counts(const char *text, struct run_counts *counts)
{
    return (text = parse_run_count(text, ' ', &counts->on_core_ns)) &&
           (text = parse_run_count(text, ' ', &counts->no_core_ns)) && parse_run_count(text, '\n', &counts->turns);
}

bool run_counts_read(const struct run_file *file, struct run_counts *counts)
{
    char text[128];
    /* The program may have closed the descriptor, and may be using its number for another file. */
    if (!file->fd || !run_file_is_ours(file))
        return false;
    long got = syscall(SYS_pread64, file->fd, text, sizeof(text) - 1, 0l);
    text[got > 0 ? got : 0] = '\0';
    return parse_run_counts(text, counts);
}

struct run_switches run_switches(void)
{
    struct rusage usage = {.ru_nvcsw = 0};
    bool told = kernel_call(SYS_getrusage, RUSAGE_THREAD, (long)&usage, 0, 0, 0, 0) == 0;
    return (struct run_switches){told ? usage.ru_nvcsw : -1, usage.ru_majflt, usage.ru_nivcsw};
}

struct kernel_use kernel_use_of_process(void)
{
    struct rusage usage = {.ru_minflt = 0};
    kernel_call(SYS_getrusage, RUSAGE_SELF, (long)&usage, 0, 0, 0, 0);
    return (struct kernel_use){(uint64_t)usage.ru_stime.tv_sec * 1000000000u + (uint64_t)usage.ru_stime.tv_usec * 1000u,
                               (uint64_t)usage.ru_minflt};
}
