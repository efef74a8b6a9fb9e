#include "base/os.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/atomics.h"
#include "base/clock.h"

#define LEAST_PAGE_BYTES 4096ul

static bool os_reserve_by_writing(int fd, uint64_t offset, size_t bytes)
{
    static const char zeros[4096];
    for (size_t done = 0; done < bytes;) {
        size_t part = bytes - done < sizeof(zeros) ? bytes - done : sizeof(zeros);
        ssize_t written = syscall(SYS_pwrite64, fd, zeros, part, offset + done);
        if (written <= 0)
            return false;
        done += (size_t)written;
    }
    return true;
}

/* Returns false if the file would become larger than RLIMIT_FSIZE. Growing it would raise SIGXFSZ in the
 * program. */
static bool os_is_within_file_limit(uint64_t end)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || end <= limit.rlim_cur;
}

static bool os_allocate_disk_space(int fd, uint64_t offset, size_t bytes)
{
    if (!os_is_within_file_limit(offset + bytes)) {
        errno = EFBIG;
        return false;
    }
    for (int attempt = 0; attempt < 8; attempt++) {
        if (syscall(SYS_fallocate, fd, 0, offset, bytes) == 0)
            return true;
        if (errno != EINTR)
            return false;
    }
    return false;
}

bool os_reserve(int fd, uint64_t offset, size_t bytes)
{
    return os_allocate_disk_space(fd, offset, bytes) ||
           ((errno == EOPNOTSUPP || errno == ENOSYS) && os_reserve_by_writing(fd, offset, bytes));
}

bool os_reserve_shared(int fd, uint64_t offset, size_t bytes)
{
    return os_allocate_disk_space(fd, offset, bytes);
}

void os_guard_writes(struct os_write_guard *guard)
{
    static const int raised[] = {SIGPIPE, SIGXFSZ};
    sigset_t both, pending;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &guard->cancel_state);
    sigemptyset(&both);
    sigemptyset(&guard->mine);
    sigemptyset(&pending);
    for (size_t i = 0; i < sizeof(raised) / sizeof(raised[0]); i++)
        sigaddset(&both, raised[i]);
    pthread_sigmask(SIG_BLOCK, &both, &guard->mask);
    sigpending(&pending);
    for (size_t i = 0; i < sizeof(raised) / sizeof(raised[0]); i++)
        if (!sigismember(&pending, raised[i]))
            sigaddset(&guard->mine, raised[i]);
}

void os_unguard_writes(const struct os_write_guard *guard)
{
    const struct timespec none = {0, 0};
    while (syscall(SYS_rt_sigtimedwait, &guard->mine, NULL, &none, _NSIG / 8) > 0)
        ;
    pthread_sigmask(SIG_SETMASK, &guard->mask, NULL);
    pthread_setcancelstate(guard->cancel_state, NULL);
}

size_t os_read_text(const char *path, char *text, size_t bytes)
{
    int fd = os_open_read(path);
    ssize_t got = fd >= 0 ? os_read(fd, text, bytes - 1) : -1;
    if (fd >= 0)
        os_close(fd);
    text[got > 0 ? got : 0] = '\0';
    return got > 0 ? (size_t)got : 0;
}

uint32_t os_threads(void)
{
    struct stat tasks;
    return stat("/proc/self/task", &tasks) == 0 && tasks.st_nlink > 2 ? (uint32_t)tasks.st_nlink - 2 : 0;
}

void os_run_times(pid_t tid, uint64_t *on_core_ns, uint64_t *no_core_ns)
{
    char text[128], *delay = NULL;
    snprintf(text, sizeof(text), "/proc/self/task/%d/schedstat", (int)tid);
    os_read_text(text, text, sizeof(text));
    *on_core_ns = strtoull(text, &delay, 10);
    *no_core_ns = strtoull(delay, NULL, 10);
}

uint32_t os_only_core(pid_t tid)
{
    cpu_set_t set;
    uint32_t core = 0;
    CPU_ZERO(&set);
    if (sched_getaffinity(tid, sizeof(set), &set) != 0 || CPU_COUNT(&set) != 1)
        return 0;
    while (!CPU_ISSET(core, &set))
        core++;
    return core + 1;
}

bool os_core_list(char *text, size_t bytes)
{
    cpu_set_t set;
    size_t used = 0;
    CPU_ZERO(&set);
    text[0] = '\0';
    if (sched_getaffinity(0, sizeof(set), &set) != 0)
        return false;
    for (int core = 0, last; core < CPU_SETSIZE && used + 24 < bytes; core = last + 1) {
        for (last = core; last + 1 < CPU_SETSIZE && CPU_ISSET(core, &set) && CPU_ISSET(last + 1, &set);)
            last++;
        if (CPU_ISSET(core, &set))
            used += (size_t)snprintf(text + used, bytes - used, last > core ? "%s%d-%d" : "%s%d", used ? "," : "", core,
                                     last);
    }
    return used > 0;
}

int os_open_read(const char *path)
{
    return (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
}

int os_open_write(const char *path)
{
    return (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC);
}

ssize_t os_read(int fd, void *buffer, size_t bytes)
{
    return syscall(SYS_read, fd, buffer, bytes);
}

ssize_t os_read_at(int fd, void *buffer, size_t bytes, uint64_t offset)
{
    return syscall(SYS_pread64, fd, buffer, bytes, offset);
}

ssize_t os_write(int fd, const void *buffer, size_t bytes)
{
    return syscall(SYS_write, fd, buffer, bytes);
}

void os_close(int fd)
{
    syscall(SYS_close, fd);
}

bool os_file_id(int fd, uint64_t *device, uint64_t *inode)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return false;
    *device = st.st_dev;
    *inode = st.st_ino;
    return true;
}

bool os_file_path(int fd, char *path, size_t bytes)
{
    char link[32] = "/proc/self/fd/", digits[16];
    size_t used = strlen(link), count = 0;
    for (unsigned number = (unsigned)fd; number > 0 || count == 0; number /= 10)
        digits[count++] = (char)('0' + number % 10);
    while (count > 0)
        link[used++] = digits[--count];
#ifdef SYS_readlink
    long got = syscall(SYS_readlink, link, path, bytes);
#else
    long got = syscall(SYS_readlinkat, AT_FDCWD, link, path, bytes);
#endif
    if (got <= 0 || (size_t)got >= bytes)
        return false;
    path[got] = '\0';
    return true;
}

uint32_t *os_map_wiped(void)
{
    uint32_t *page = os_map(sizeof(*page));
    if (page && syscall(SYS_madvise, page, LEAST_PAGE_BYTES, MADV_WIPEONFORK) != 0) {
        os_unmap(page, sizeof(*page));
        page = NULL;
    }
    return page;
}

/* Asks the kernel once, and keeps the number in memory that the kernel clears in every new process. */
pid_t os_pid(void)
{
    static uint32_t *kept;
    uint32_t *page = load_acquire(&kept), pid = page ? load_relaxed(page) : 0;
    if (likely(pid))
        return (pid_t)pid;
    pid = (uint32_t)syscall(SYS_getpid);
    if (page) {
        store_relaxed(page, pid);
        return (pid_t)pid;
    }
    uint32_t *fresh = os_map_wiped();
    if (!fresh)
        return (pid_t)pid;
    store_relaxed(fresh, pid);
    if (compare_exchange(&kept, &page, fresh))
        return (pid_t)pid;
    os_unmap(fresh, sizeof(*fresh)); /* another thread has stored its word first */
    return (pid_t)pid;
}

/* Reads the process's memory as a file, for sandboxes that forbid process_vm_readv(). */
static bool os_copy_memory_by_file(const struct os_part *parts, size_t count)
{
    int fd = os_open_read("/proc/thread-self/mem");
    for (size_t i = 0; i < count && fd >= 0; i++)
        if (os_read_at(fd, parts[i].to, parts[i].bytes, parts[i].from) != (ssize_t)parts[i].bytes) {
            os_close(fd);
            return false;
        }
    if (fd >= 0)
        os_close(fd);
    return fd >= 0;
}

bool os_copy_parts(const struct os_part *parts, size_t count)
{
    struct iovec local[OS_MAX_PARTS], remote[OS_MAX_PARTS];
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++) {
        local[i] = (struct iovec){parts[i].to, parts[i].bytes};
        remote[i] = (struct iovec){(void *)parts[i].from, parts[i].bytes};
        bytes += parts[i].bytes;
    }
    ssize_t copied = syscall(SYS_process_vm_readv, os_pid(), local, count, remote, count, 0ul);
    /* os_pid() is also the number of the process's first thread, and that thread has ended */
    if (unlikely(copied < 0 && errno == ESRCH))
        copied = syscall(SYS_process_vm_readv, os_tid(), local, count, remote, count, 0ul);
    return copied == (ssize_t)bytes ||
           (copied < 0 && (errno == EPERM || errno == ENOSYS) && os_copy_memory_by_file(parts, count));
}

bool os_copy_memory(void *to, uintptr_t from, size_t bytes)
{
    return os_copy_parts(&(struct os_part){to, from, bytes}, 1);
}

size_t os_copy_text(char *to, size_t bytes, uintptr_t from)
{
    for (size_t copied = 0, part; copied < bytes; copied += part) {
        part = LEAST_PAGE_BYTES - (from + copied) % LEAST_PAGE_BYTES;
        part = part < bytes - copied ? part : bytes - copied;
        if (!os_copy_memory(to + copied, from + copied, part))
            return 0;
        const char *end = memchr(to + copied, '\0', part);
        if (end)
            return (size_t)(end - to) + 1;
    }
    return bytes;
}

/* The lock is 0 if it is free, 1 if it is taken, 2 if it is taken and other threads may be waiting. */
void os_lock(uint32_t *lock)
{
    uint32_t seen = 0;
    if (compare_exchange(lock, &seen, 1))
        return;
    /* thread_enter_tool() saves errno, but some callbacks take locks outside it */
    int saved_errno = errno;
    while (exchange_acq_rel(lock, 2))
        syscall(SYS_futex, lock, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
    errno = saved_errno;
}

void os_unlock(uint32_t *lock)
{
    if (exchange_acq_rel(lock, 0) == 2)
        syscall(SYS_futex, lock, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

bool os_is_dead(pid_t pid)
{
    int saved = errno;
    bool dead = syscall(SYS_kill, pid, 0) != 0 && errno == ESRCH;
    errno = saved;
    return dead;
}

pid_t os_tid(void)
{
    return (pid_t)syscall(SYS_gettid);
}

bool os_timer_set(timer_t timer, bool cpu_clock, uint64_t first_ns, uint64_t period_ns)
{
    uint64_t first = first_ns ? first_ns : period_ns;
    struct itimerspec spec = {
        .it_interval = {(time_t)(period_ns / NS_PER_S), (long)(period_ns % NS_PER_S)},
        .it_value = {(time_t)(first / NS_PER_S), (long)(first % NS_PER_S)},
    };
    return timer_settime(timer, cpu_clock ? 0 : TIMER_ABSTIME, &spec, NULL) == 0;
}

static bool os_timer_start_on(timer_t *timer, int signal, clockid_t clock, uint64_t first_ns, uint64_t period_ns)
{
    struct sigevent event;
    memset(&event, 0, sizeof(event));
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = signal;
    event._sigev_un._tid = os_tid();
    event.sigev_value.sival_int = clock != CLOCK_MONOTONIC;
    if (timer_create(clock, &event, timer) != 0)
        return false;
    if (os_timer_set(*timer, clock != CLOCK_MONOTONIC, first_ns, period_ns))
        return true;
    timer_delete(*timer);
    return false;
}

bool os_timer_start(timer_t *timer, int signal, bool cpu_clock, uint64_t first_ns, uint64_t period_ns)
{
    return os_timer_start_on(timer, signal, cpu_clock ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, first_ns, period_ns);
}

bool os_process_timer_start(timer_t *timer, int signal, uint64_t cpu_ns)
{
    return os_timer_start_on(timer, signal, CLOCK_PROCESS_CPUTIME_ID, cpu_ns, 0);
}

uint64_t os_tick_ns(void)
{
    struct timespec tick = {0};
    clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
    return (uint64_t)tick.tv_nsec;
}

bool os_timer_is_there(timer_t timer)
{
    return timer_gettime(timer, &(struct itimerspec){0}) == 0;
}

void os_timer_stop(timer_t timer)
{
    timer_delete(timer);
}

static unsigned os_cgroup_quota_cores(void)
{
    char text[64];
    os_read_text("/sys/fs/cgroup/cpu.max", text, sizeof(text));
    unsigned long quota = 0, period = 0;
    if (sscanf(text, "%lu %lu", &quota, &period) != 2) /* the text "max" means that there is no quota */
        quota = 0;
    return quota && period ? (unsigned)((quota + period - 1) / period) : 0;
}

unsigned os_cores(void)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    unsigned cores = sched_getaffinity(0, sizeof(set), &set) == 0 ? (unsigned)CPU_COUNT(&set)
                                                                  : (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
    unsigned quota = os_cgroup_quota_cores();
    if (quota && quota < cores)
        cores = quota;
    return cores ? cores : 1;
}

uint64_t os_process_start_ns(void)
{
    uint64_t used = clock_process_cpu_ns();
    unsigned long long ticks = 0;
    char text[1024];
    os_read_text("/proc/self/stat", text, sizeof(text));
    /* The program's name, in parentheses, may contain any character. Fields are therefore counted from the
     * last parenthesis; the start time is field 22. */
    const char *field = strrchr(text, ')');
    for (int i = 2; field && i < 22; i++)
        field = strchr(field + 1, ' ');
    if (field)
        ticks = strtoull(field, NULL, 10);
    struct timespec boot;
    clock_gettime(CLOCK_BOOTTIME, &boot);
    /* read directly after the other clock, because the process may lose its core for milliseconds between the
     * two */
    uint64_t now = clock_now_ns();
    uint64_t boot_ns = (uint64_t)boot.tv_sec * NS_PER_S + (uint64_t)boot.tv_nsec;
    uint64_t tick_ns = NS_PER_S / (uint64_t)sysconf(_SC_CLK_TCK);
    /* The start is known only to one clock tick. The middle of the tick is used, unless the process has
     * already used more CPU time than fits between that and now. */
    uint64_t age = boot_ns - (ticks * tick_ns + tick_ns / 2);
    if (!ticks || age > boot_ns || age < used)
        age = used;
    return now - age;
}

bool os_copy_file(const char *from, const char *to)
{
    int in = open(from, O_RDONLY | O_CLOEXEC);
    struct stat status = {.st_mode = 0666};
    if (in >= 0)
        fstat(in, &status);
    int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, status.st_mode & 0666);
    ssize_t moved = -1;
    while (in >= 0 && out >= 0 && (moved = sendfile(out, in, NULL, 1 << 20)) > 0)
        ;
    int cause = errno;
    if (in >= 0)
        close(in);
    if (out >= 0 && close(out) != 0 && moved == 0) {
        cause = errno;
        moved = -1;
    }
    if (out >= 0 && moved != 0)
        unlink(to);
    errno = cause;
    return moved == 0;
}

bool os_copy_over(const char *from, const char *to)
{
    char part[PATH_MAX];
    if (snprintf(part, sizeof(part), "%s.part", to) >= (int)sizeof(part)) {
        errno = ENAMETOOLONG;
        return false;
    }
    unlink(part);
    if (!os_copy_file(from, part))
        return false;
    if (rename(part, to) == 0)
        return true;
    int cause = errno;
    unlink(part);
    errno = cause;
    return false;
}

bool os_is_network_path(const char *path)
{
    static const unsigned long network[] = {
        0x6969 /* NFS */, 0x0BD00BD0 /* Lustre */, 0x47504653 /* GPFS */, 0x65735546 /* FUSE */,
        0x517B /* SMB */, 0xFF534D42 /* CIFS */,   0xFE534D42 /* SMB2 */, 0x01021997 /* 9P */};
    struct statfs fs;
    if (statfs(path, &fs) != 0)
        return false;
    for (size_t i = 0; i < sizeof(network) / sizeof(network[0]); i++)
        if ((unsigned long)(unsigned int)fs.f_type == network[i])
            return true;
    return false;
}

bool os_memory_is_locked(void)
{
    static const char word[] = "VmLck:";
    char text[2048];
    size_t bytes = os_read_text("/proc/self/status", text, sizeof text), at = 0;
    while (at + sizeof word <= bytes && memcmp(text + at, word, sizeof word - 1) != 0)
        at++;
    for (at += sizeof word - 1; at < bytes && (text[at] == ' ' || text[at] == '\t');)
        at++;
    return at < bytes && text[at] >= '1' && text[at] <= '9';
}

/* ---- memory ---- */

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* since Linux 5.14 */
#endif

/* a constant on x86-64; on other machines, the kernel chooses the page size */
#if defined(__x86_64__)
#define PAGE_BYTES 4096ul
#else
#define PAGE_BYTES ((unsigned long)sysconf(_SC_PAGESIZE))
#endif

void *os_map(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

void os_make_present(void *memory, size_t bytes)
{
    size_t skip = (uintptr_t)memory % PAGE_BYTES;
    syscall(SYS_madvise, (char *)memory - skip, bytes + skip, MADV_POPULATE_WRITE);
}

void os_unmap(void *memory, size_t bytes)
{
    size_t skip = (uintptr_t)memory % PAGE_BYTES;
    munmap((char *)memory - skip, bytes + skip);
}

/* Maps a part of a file. `offset` is a multiple of 4 KB. If the system's pages are larger, the mapping begins
 * at a lower offset. */
static void *os_map_file_part(int fd, uint64_t offset, size_t bytes, int access, int flags)
{
    size_t skip = offset % PAGE_BYTES;
    char *memory = mmap(NULL, bytes + skip, access, flags, fd, (off_t)(offset - skip));
    return memory == MAP_FAILED ? NULL : memory + skip;
}

const void *os_map_file(int fd, uint64_t offset, size_t bytes)
{
    return os_map_file_part(fd, offset, bytes, PROT_READ, MAP_PRIVATE);
}

/* MADV_RANDOM keeps the kernel from also reading the pages around a page that is touched. In a new file,
 * these are empty. */
void *os_map_shared(int fd, uint64_t offset, size_t bytes)
{
    char *memory = os_map_file_part(fd, offset, bytes, PROT_READ | PROT_WRITE, MAP_SHARED);
    size_t skip = (uintptr_t)memory % PAGE_BYTES;
    if (memory)
        syscall(SYS_madvise, memory - skip, bytes + skip, MADV_RANDOM);
    return memory;
}

bool os_memory_is_limited(void)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

/* ---- threads ---- */

char os_thread_state(pid_t tid)
{
    char path[64], text[256];
    snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)tid);
    os_read_text(path, text, sizeof(text));
    const char *name_end = strrchr(text, ')');
    return name_end && name_end[1] ? name_end[2] : '\0';
}
