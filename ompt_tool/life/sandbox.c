/* A system call filter may end the process at a call that the program itself never makes, and no process can
 * read its filter. So if there is a filter, a copy of the process tries all system calls that the tool makes,
 * with arguments that make the calls do nothing. If the process cannot be copied, nothing is tried. */
#include "ompt_tool/life/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "base/atomics.h"
#include "base/kernel.h"
#include "base/os.h"

#define NO_FILE    -1l
#define LOGS_CALLS 5 /* number of calls, at the start of the list, that log_line() makes */

/* A system call to try. An argument of 0 means no memory, no name or no bytes. */
static const struct attempt {
    const char *name;
    long number, first, second, third, fourth, fifth;
} attempts[] = {
    {"rt_sigpending", SYS_rt_sigpending, 0, sizeof(uint64_t), 0, 0, 0},
    {"rt_sigtimedwait", SYS_rt_sigtimedwait, 0, 0, 0, sizeof(uint64_t), 0},
#ifdef SYS_poll
    {"poll", SYS_poll, 0, 0, 0, 0, 0},
#else
    {"ppoll", SYS_ppoll, 0, 0, 0, 0, 0},
#endif
    {"newfstatat", SYS_newfstatat, NO_FILE, 0, 0, 0, 0},
    {"pwritev2", SYS_pwritev2, NO_FILE, 0, 0, 0, 0},
    {"clock_gettime", SYS_clock_gettime, 0, 0, 0, 0, 0},
    {"clock_nanosleep", SYS_clock_nanosleep, 0, 0, 0, 0, 0},
    {"faccessat2", SYS_faccessat2, NO_FILE, 0, 0, 0, 0},
    {"fallocate", SYS_fallocate, NO_FILE, 0, 0, 0, 0},
    {"fcntl", SYS_fcntl, NO_FILE, F_DUPFD_CLOEXEC, 0, 0, 0},
    {"ftruncate", SYS_ftruncate, NO_FILE, 0, 0, 0, 0},
    {"getcwd", SYS_getcwd, 0, 0, 0, 0, 0},
    {"getpid", SYS_getpid, 0, 0, 0, 0, 0},
    {"getrusage", SYS_getrusage, 0, 0, 0, 0, 0},
    {"gettid", SYS_gettid, 0, 0, 0, 0, 0},
    {"lseek", SYS_lseek, NO_FILE, 0, 0, 0, 0},
    {"madvise", SYS_madvise, 0, 0, 0, 0, 0},
    {"mincore", SYS_mincore, 0, 0, 0, 0, 0},
    {"mmap of a shared file", SYS_mmap, 0, 0, 0, MAP_SHARED, NO_FILE},
    {"mremap", SYS_mremap, 0, 0, 0, 0, 0},
    {"openat to write", SYS_openat, NO_FILE, 0, O_RDWR | O_CREAT, 0, 0},
    {"pipe2", SYS_pipe2, 0, 0, 0, 0, 0},
    {"pread64", SYS_pread64, NO_FILE, 0, 0, 0, 0},
    {"process_vm_readv", SYS_process_vm_readv, 0, 0, 0, 0, 0},
    {"sched_getaffinity", SYS_sched_getaffinity, 0, 0, 0, 0, 0},
    {"statfs", SYS_statfs, 0, 0, 0, 0, 0},
    {"sysinfo", SYS_sysinfo, 0, 0, 0, 0, 0},
    {"timer_create", SYS_timer_create, NO_FILE, 0, 0, 0, 0},
    {"timer_delete", SYS_timer_delete, NO_FILE, 0, 0, 0, 0},
    {"timer_settime", SYS_timer_settime, NO_FILE, 0, 0, 0, 0},
    /* used in restart/restart.c for counters */
    {"rt_tgsigqueueinfo", SYS_rt_tgsigqueueinfo, NO_FILE, 0, 0, 0, 0},
    {"uname", SYS_uname, 0, 0, 0, 0, 0},
#ifdef SYS_access
    {"access", SYS_access, 0, 0, 0, 0, 0},
    {"mkdir", SYS_mkdir, 0, 0, 0, 0, 0},
    {"readlink", SYS_readlink, 0, 0, 0, 0, 0},
    {"rmdir", SYS_rmdir, 0, 0, 0, 0, 0},
    {"unlink", SYS_unlink, 0, 0, 0, 0, 0},
#else /* newer architectures do not have the older calls */
    {"faccessat", SYS_faccessat, NO_FILE, 0, 0, 0, 0},
    {"mkdirat", SYS_mkdirat, NO_FILE, 0, 0, 0, 0},
    {"readlinkat", SYS_readlinkat, NO_FILE, 0, 0, 0, 0},
    {"tgkill", SYS_tgkill, NO_FILE, 0, 0, 0, 0}, /* used in unwind/machine_aarch64.c */
    {"unlinkat", SYS_unlinkat, NO_FILE, 0, 0, 0, 0},
#endif
};

#define ATTEMPTS (sizeof(attempts) / sizeof(attempts[0]))

static bool sandbox_is_filtered(void)
{
    char text[4096];
    os_read_text("/proc/self/status", text, sizeof(text));
    return strstr(text, "\nSeccomp:\t2\n") != NULL;
}

/* Tries all calls, in the copy of the process, and then ends the copy. Stores in *at the number of the call
 * that is being tried. Makes only system calls. */
static void sandbox_try_all(uint32_t *at)
{
    const struct rlimit none = {0, 0};
    kernel_call(SYS_prlimit64, 0, RLIMIT_CORE, (long)&none, 0, 0, 0); /* the copy must not dump core */
    for (uint32_t i = 0; i < ATTEMPTS; i++) {
        const struct attempt *attempt = &attempts[i];
        store_relaxed(at, i);
        kernel_call(attempt->number, attempt->first, attempt->second, attempt->third, attempt->fourth, attempt->fifth,
                    0);
    }
    store_relaxed(at, (uint32_t)ATTEMPTS);
    for (;;)
        kernel_call(SYS_exit_group, 0, 0, 0, 0, 0, 0);
}

/* Returns the number of the first call that ends the copy; ATTEMPTS if no call does. As in finisher.c, the
 * program sees no child and gets no signal. */
static uint32_t sandbox_first_ended(uint32_t *at)
{
    const uint64_t all = ~0ull;
    uint64_t mask;
    kernel_call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, (long)&mask, sizeof(mask), 0, 0);
    long pid = kernel_call(SYS_clone, 0, 0, 0, 0, 0, 0);
    if (pid == 0)
        sandbox_try_all(at);
    int status = 0;
    long ended = -EINTR;
    while (pid > 0 && ended == -EINTR)
        ended = kernel_call(SYS_wait4, pid, (long)&status, __WCLONE, 0, 0, 0);
    kernel_call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&mask, 0, sizeof(mask), 0, 0);
    return pid > 0 && ended == pid && WIFSIGNALED(status) ? load_relaxed(at) : (uint32_t)ATTEMPTS;
}

const char *sandbox_ends_at(bool *may_speak)
{
    *may_speak = true;
    if (!sandbox_is_filtered())
        return NULL;
    uint32_t *at = mmap(NULL, sizeof(*at), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        return NULL;
    uint32_t ended = sandbox_first_ended(at);
    os_unmap(at, sizeof(*at));
    *may_speak = ended >= LOGS_CALLS;
    return ended < ATTEMPTS ? attempts[ended].name : NULL;
}
