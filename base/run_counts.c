/* The rules of this house: as in ompt_tool/sampling/sampler.c. Plain system calls, none of them a cancellation point. */
#include "base/run_counts.h"

#include <stddef.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/atomics.h"
#include "base/kernel.h"
#include "base/os.h"

#define MOST_KEPT 1024u
#define SHARE     16u /* one in so many descriptors that the process may have */

static const char own[] = "/proc/thread-self/schedstat";
static uint32_t kept;

static bool is_own(const struct run_file *file)
{
    uint64_t device, inode;
    return os_file_id(file->fd, &device, &inode) && device == file->device && inode == file->inode;
}

static uint32_t most_kept(void)
{
    struct rlimit limit = {.rlim_cur = 0};
    getrlimit(RLIMIT_NOFILE, &limit);
    return limit.rlim_cur / SHARE < MOST_KEPT ? (uint32_t)(limit.rlim_cur / SHARE) : MOST_KEPT;
}

static bool is_room(void)
{
    uint32_t before = fetch_add_relaxed(&kept, 1), most = most_kept();
    if (before == 0) /* the process's first thread, as a rule, and the only one yet */
        os_expect_high((int)most);
    return before < most;
}

static void forget(struct run_file *file)
{
    file->fd = 0;
    fetch_add_relaxed(&kept, -1u);
}

bool run_file_keep(struct run_file *file)
{
    int fd = is_room() ? os_open_read(own) : -1, high = fd >= 0 ? os_high_copy(fd) : -1;
    if (fd >= 0)
        os_close(fd);
    if (high >= 0 && os_file_id(high, &file->device, &file->inode)) {
        file->fd = high;
        return true;
    }
    forget(file);
    return false;
}

void run_file_let_go(struct run_file *file)
{
    if (!file->fd)
        return;
    if (is_own(file))
        os_close(file->fd);
    forget(file);
}

/* The number that the text begins with; what is behind it and the byte that ends it, NULL: it is none. */
static const char *number(const char *text, char end, uint64_t *value)
{
    const char *at = text;
    uint64_t sum = 0;
    for (unsigned digit; (digit = (unsigned)*at - '0') <= 9; at++)
        sum = 10 * sum + digit;
    *value = sum;
    return at > text && *at == end ? at + 1 : NULL;
}

static bool parse(const char *text, struct run_counts *counts)
{
    return (text = number(text, ' ', &counts->on_core_ns)) && (text = number(text, ' ', &counts->no_core_ns)) &&
           number(text, '\n', &counts->turns);
}

bool run_counts_read(struct run_file *file, struct run_counts *counts)
{
    char text[128];
    if (file->fd && !is_own(file))
        forget(file); /* the number is the program's now, or nobody's */
    if (!file->fd)
        return false;
    long got = syscall(SYS_pread64, file->fd, text, sizeof(text) - 1, 0l);
    text[got > 0 ? got : 0] = '\0';
    return parse(text, counts);
}

struct run_switches run_switches(void)
{
    struct rusage usage = {.ru_nvcsw = 0};
    bool told = kernel_call(SYS_getrusage, RUSAGE_THREAD, (long)&usage, 0, 0, 0, 0) == 0;
    return (struct run_switches){told ? usage.ru_nvcsw : -1, usage.ru_majflt, usage.ru_nivcsw};
}
