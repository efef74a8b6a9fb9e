#include "tests/unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/atomics.h"
#include "base/clock.h"
#include "base/os.h"
#include "base/os_file.h"
#include "tests/unit/forbid.h"

static int fresh_file(void)
{
    int fd = open(unit_fresh_path(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    return fd;
}

UNIT_TEST(no_memory_is_null)
{
    assert_null(os_map((size_t)1 << 60));
    assert_null(os_map_file(-1, 0, 4096));
    assert_null(os_map_shared(-1, 0, 4096));
}

UNIT_TEST(a_thread_that_is_bound_has_a_core)
{
    cpu_set_t all, one;
    int core = 0;
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    while (!CPU_ISSET(core, &all) || (core == 0 && CPU_COUNT(&all) > 1))
        core++;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    assert_int_equal(os_only_core(os_tid()), CPU_COUNT(&all) == 1 ? core + 1 : 0);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    assert_int_equal(os_only_core(os_tid()), core + 1);
    assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
    assert_int_equal(os_only_core(INT32_MAX), 0); /* none has that number */
}

UNIT_TEST(what_is_written_to_a_shared_mapping_is_in_the_file)
{
    int fd = fresh_file();
    assert_true(os_reserve(fd, 0, 8192));
    struct stat st;
    fstat(fd, &st);
    assert_int_equal(st.st_size, 8192);
    assert_int_equal(st.st_blocks * 512 >= 8192, 1); /* not a hole */
    char *memory = os_map_shared(fd, 4096, 4096), read_back[6] = "";
    assert_non_null(memory);
    memcpy(memory, "hello", 6);
    assert_int_equal(pread(fd, read_back, 6, 4096), 6);
    assert_string_equal(read_back, "hello");
    os_unmap(memory, 4096);
    const char *view = os_map_file(fd, 4096, 4096);
    assert_string_equal(view, "hello");
    os_unmap((void *)view, 4096);
    view = os_map_file(fd, 4096 + 3, 100); /* as if pages were larger than the file's */
    assert_memory_equal(view, read_back + 3, 2);
    os_unmap((void *)view, 100);
    os_close(fd);
    unit_clean();
}

UNIT_TEST(a_file_beyond_its_limit_is_refused_without_a_signal)
{
    int fd = fresh_file();
    unit_limit_files(8192); /* SIGXFSZ would end this program */
    assert_true(os_reserve(fd, 0, 8192));
    assert_false(os_reserve(fd, 8192, 1));
    unit_limit_files(RLIM_INFINITY);
    assert_true(os_reserve(fd, 8192, 1));
    os_close(fd);
    unit_clean();
}

static int reserve_without_fallocate(int fd, int error)
{
    forbid_call(SYS_fallocate, error);
    if (!os_reserve(fd, 4096, 10000))
        return 1;
    struct stat st;
    return fstat(fd, &st) == 0 && st.st_size == 14096 && st.st_blocks * 512 >= 10000 ? 0 : 2;
}

static void check_without_fallocate(int error, int expected)
{
    int fd = fresh_file();
    pid_t child = fork();
    if (child == 0)
        _exit(reserve_without_fallocate(fd, error));
    close(fd);
    unit_clean();
    unit_child_ends(child, expected);
}

UNIT_TEST(where_fallocate_is_not_supported_bytes_are_written)
{
    check_without_fallocate(EOPNOTSUPP, 0);
    check_without_fallocate(ENOSYS, 0);
}

UNIT_TEST(interrupted_for_ever_a_reservation_gives_up)
{
    check_without_fallocate(EINTR, 1);
}

UNIT_TEST(a_closed_file_cannot_be_reserved)
{
    assert_false(os_reserve(-1, 0, 4096));
}

UNIT_TEST(reading_writing_opening_are_the_system_calls)
{
    int fd = fresh_file();
    char text[8] = "";
    assert_int_equal(os_write(fd, "abc", 3), 3);
    os_close(fd);
    fd = os_open_read(unit_path);
    assert_true(fd >= 0);
    assert_int_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    assert_int_equal(os_read(fd, text, sizeof(text)), 3);
    assert_string_equal(text, "abc");
    uint64_t device = 0, inode = 0;
    struct stat st;
    fstat(fd, &st);
    assert_true(os_file_id(fd, &device, &inode));
    assert_int_equal(device, st.st_dev);
    assert_int_equal(inode, st.st_ino);
    os_close(fd);
    assert_false(os_file_id(fd, &device, &inode));
    assert_true(os_open_read("/nonexistent/file") < 0);
    assert_true(os_read(-1, text, 1) < 0);
    unit_clean();
}

UNIT_TEST(copying_from_nowhere_is_false_not_a_fault)
{
    uint64_t from = 0x1234567890abcdef, to = 0;
    assert_true(os_copy_memory(&to, (uintptr_t)&from, sizeof(from)));
    assert_int_equal(to, from);
    assert_false(os_copy_memory(&to, 0, sizeof(to)));
    assert_false(os_copy_memory(&to, 8, sizeof(to)));
    assert_false(os_copy_memory(&to, UINTPTR_MAX - 4, sizeof(to)));
    assert_false(os_copy_memory(&to, (uintptr_t)0xdead << 48, sizeof(to)));
    char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(page + 4096, 4096);
    assert_true(os_copy_memory(&to, (uintptr_t)page + 4088, 8));
    assert_false(os_copy_memory(&to, (uintptr_t)page + 4089, 8)); /* a part is not enough */
    munmap(page, 4096);
}

UNIT_TEST(several_places_are_copied_at_once_or_none_counts)
{
    uint64_t a = 1, b = 2, c[3] = {3, 4, 5}, to[5] = {0};
    struct os_part parts[] = {
        {&to[0], (uintptr_t)&a, sizeof(a)}, {&to[1], (uintptr_t)&b, sizeof(b)}, {&to[2], (uintptr_t)c, sizeof(c)}};
    assert_true(os_copy_parts(parts, 3));
    for (uint64_t i = 0; i < 5; i++)
        assert_int_equal(to[i], i + 1);
    assert_true(os_copy_parts(parts, 1));
    for (int bad = 0; bad < 3; bad++) {
        struct os_part broken[] = {parts[0], parts[1], parts[2]};
        broken[bad].from = 8;
        assert_false(os_copy_parts(broken, 3));
    }
}

/* What a child reads is its own memory, however the child was made: a number of the parent's process that was
 * kept would name the parent's. */
UNIT_TEST(a_child_copies_its_own_memory)
{
    static volatile uint64_t value;
    uint64_t to = 0;
    value = 1;
    assert_true(os_copy_memory(&to, (uintptr_t)&value, sizeof(to)));
    assert_int_equal(to, 1);
    for (int way = 0; way < 2; way++) {
        int status = -1;
        pid_t child = way ? (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) : fork();
        if (child == 0) {
            value = 2;
            _exit(os_copy_memory(&to, (uintptr_t)&value, sizeof(to)) && to == 2 ? 0 : 1);
        }
        assert_true(child > 0);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
}

static uint32_t signals;
static pid_t signalled_tid;

static void count_signal(int signal, siginfo_t *info, void *context)
{
    (void)signal, (void)context;
    if (info->si_code == SI_TIMER)
        fetch_add_relaxed(&signals, 1 + (uint32_t)info->si_overrun);
    store_relaxed(&signalled_tid, os_tid());
}

static void count_signals(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof(action));
    action.sa_sigaction = count_signal;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigaction(SIGRTMIN + 3, &action, NULL);
    signals = 0;
}

static void spin_until(uint64_t end_ns)
{
    while (clock_now_ns() < end_ns)
        ;
}

UNIT_TEST(a_wall_timer_signals_its_thread_at_origin_plus_periods)
{
    timer_t timer;
    count_signals();
    uint64_t begin = clock_now_ns(), first = begin + 30000000;
    assert_true(os_timer_start(&timer, SIGRTMIN + 3, false, first, 10000000));
    spin_until(first - 20000000);
    uint32_t early = load_relaxed(&signals);
    if (clock_now_ns() < first) /* else this thread had no core for that long */
        assert_int_equal(early, 0);
    spin_until(first + 95000000);
    os_timer_stop(timer);
    uint64_t passed = (clock_now_ns() - first) / 10000000 + 1;
    uint32_t seen = load_relaxed(&signals);
    assert_true(seen >= 9 && seen <= passed + 1); /* none lost: a late one carries overruns */
    assert_int_equal(signalled_tid, os_tid());
    spin_until(clock_now_ns() + 25000000);
    assert_int_equal(load_relaxed(&signals), seen);
}

UNIT_TEST(a_cpu_timer_runs_with_the_threads_cpu_time)
{
    timer_t timer;
    count_signals();
    assert_true(os_timer_start(&timer, SIGRTMIN + 3, true, 0, 20000000));
    uint64_t wake_ns = clock_now_ns() + 150000000;
    while (clock_now_ns() < wake_ns)
        usleep(50000);
    assert_true(load_relaxed(&signals) <= 2); /* asleep: no CPU time, no signals */
    uint64_t begin = clock_thread_cpu_ns();
    while (clock_thread_cpu_ns() < begin + 200000000)
        ;
    os_timer_stop(timer);
    assert_in_range(load_relaxed(&signals), 4, 14);
}

UNIT_TEST(without_a_timer_left_the_start_fails)
{
    struct rlimit limit, none;
    getrlimit(RLIMIT_SIGPENDING, &limit);
    none = limit;
    none.rlim_cur = 0;
    setrlimit(RLIMIT_SIGPENDING, &none);
    timer_t timer;
    bool started = os_timer_start(&timer, SIGRTMIN + 3, false, clock_now_ns(), 1000000);
    setrlimit(RLIMIT_SIGPENDING, &limit);
    assert_false(started);
}

UNIT_TEST(cores_are_those_of_the_affinity)
{
    cpu_set_t all, one;
    assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
    unsigned cores = os_cores();
    assert_in_range(cores, 1, (unsigned)CPU_COUNT(&all));
    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &all)) {
            CPU_SET(i, &one);
            break;
        }
    assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
    assert_int_equal(os_cores(), 1);
    sched_setaffinity(0, sizeof(all), &all);
}

/* The start is known to 10 ms. The name of the process must not matter. */
UNIT_TEST(the_process_started_when_it_did)
{
    uint64_t before = clock_now_ns();
    pid_t child = fork();
    if (child == 0) {
        uint64_t begun = clock_now_ns();
        usleep(300000);
        uint64_t start = os_process_start_ns(); /* a fork has a start time of its own */
        _exit(start + 30000000 >= before && start < begun + 30000000 ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    uint64_t start = os_process_start_ns();
    assert_true(start < clock_now_ns());
    assert_true(clock_now_ns() - start < 600 * NS_PER_S);
}

UNIT_TEST(a_copy_has_the_same_bytes_and_never_overwrites)
{
    char copy[128], text[4] = "";
    int fd = fresh_file();
    assert_int_equal(write(fd, "abc", 3), 3);
    assert_int_equal(ftruncate(fd, (off_t)3 << 20), 0); /* more than one sendfile */
    close(fd);
    snprintf(copy, sizeof(copy), "%s/copy", unit_directory);
    assert_true(os_copy_file(unit_path, copy));
    struct stat st;
    assert_int_equal(stat(copy, &st), 0);
    assert_int_equal(st.st_size, 3 << 20);
    assert_int_equal(st.st_mode & 0777, 0600); /* nor is it for others to read */
    fd = open(copy, O_RDONLY);
    assert_int_equal(read(fd, text, 3), 3);
    assert_string_equal(text, "abc");
    close(fd);
    assert_false(os_copy_file(unit_path, copy));
    assert_int_equal(errno, EEXIST);
    assert_int_equal(stat(copy, &st), 0); /* not removed either */
    assert_int_equal(st.st_size, 3 << 20);
    unlink(copy);
    assert_false(os_copy_file("/nonexistent/file", copy));
    assert_int_equal(errno, ENOENT);
    assert_int_equal(access(copy, F_OK), -1); /* nothing is left behind */
    unit_clean();
}

UNIT_TEST(a_copy_that_does_not_fit_leaves_nothing)
{
    char copy[128];
    int fd = fresh_file();
    assert_int_equal(ftruncate(fd, 1 << 20), 0);
    close(fd);
    snprintf(copy, sizeof(copy), "%s/copy", unit_directory);
    void (*before)(int) = signal(SIGXFSZ, SIG_IGN);
    unit_limit_files(65536);
    bool copied = os_copy_file(unit_path, copy);
    int cause = errno;
    unit_limit_files(RLIM_INFINITY);
    signal(SIGXFSZ, before);
    assert_false(copied);
    assert_int_equal(cause, EFBIG);
    assert_int_equal(access(copy, F_OK), -1);
    unit_clean();
}

static volatile sig_atomic_t signals_seen;

static void see_signal(int signal_number)
{
    (void)signal_number;
    signals_seen++;
}

UNIT_TEST(a_guarded_write_beyond_the_limit_fails_without_its_signal)
{
    struct os_write_guard guard;
    int fd = fresh_file();
    void (*before)(int) = signal(SIGXFSZ, see_signal);
    signals_seen = 0;
    unit_limit_files(0);
    os_guard_writes(&guard);
    ssize_t written = os_write(fd, "x", 1);
    int cause = errno;
    os_unguard_writes(&guard);
    assert_int_equal(signals_seen, 0);
    assert_int_equal(written, -1);
    assert_int_equal(cause, EFBIG);
    os_write(fd, "x", 1);
    usleep(1);                         /* ThreadSanitizer delivers signals behind calls that it knows */
    assert_int_equal(signals_seen, 1); /* the program's own */
    unit_limit_files(RLIM_INFINITY);
    signal(SIGXFSZ, before);
    close(fd);
    unit_clean();
}

UNIT_TEST(nobody_is_cancelled_under_a_guard_and_before_as_after)
{
    struct os_write_guard guard, inner;
    int state;
    os_guard_writes(&guard);
    os_guard_writes(&inner);
    os_unguard_writes(&inner);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    assert_int_equal(state, PTHREAD_CANCEL_DISABLE);
    os_unguard_writes(&guard);
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
    assert_int_equal(state, PTHREAD_CANCEL_ENABLE);
}

UNIT_TEST(a_guard_leaves_what_was_pending_before)
{
    struct os_write_guard guard;
    sigset_t pipe_only, before_mask;
    void (*before)(int) = signal(SIGPIPE, see_signal);
    signals_seen = 0;
    sigemptyset(&pipe_only);
    sigaddset(&pipe_only, SIGPIPE);
    sigprocmask(SIG_BLOCK, &pipe_only, &before_mask);
    raise(SIGPIPE);
    os_guard_writes(&guard);
    os_unguard_writes(&guard);
    sigprocmask(SIG_SETMASK, &before_mask, NULL);
    assert_int_equal(signals_seen, 1);
    signal(SIGPIPE, before);
}

UNIT_TEST(local_file_systems_are_not_network)
{
    assert_false(os_is_network_path("/proc"));
    assert_false(os_is_network_path("/dev/shm"));
    assert_false(os_is_network_path("/nonexistent"));
}

UNIT_TEST(the_kernel_counts_what_a_thread_ran)
{
    struct timespec used;
    uint64_t on_core_ns, no_core_ns;
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    while (used.tv_sec == 0 && used.tv_nsec < 20000000);
    os_run_times(os_tid(), &on_core_ns, &no_core_ns);
    if (access("/proc/self/schedstat", R_OK) == 0)
        assert_true(on_core_ns > 10000000);
    os_run_times(0, &on_core_ns, &no_core_ns);
    assert_int_equal(on_core_ns + no_core_ns, 0);
}

UNIT_TEST(that_memory_is_locked_is_known)
{
    static char page[4096] __attribute__((aligned(4096)));
    assert_false(os_memory_is_locked());
    assert_int_equal(mlock(page, sizeof page), 0);
    assert_true(os_memory_is_locked());
    munlock(page, sizeof page);
}

UNIT_TEST(a_files_state_is_its_own_and_of_a_fresh_file_unknown)
{
    int shell = os_open_read("/bin/sh"), fresh = open("/tmp", O_TMPFILE | O_RDWR, 0600);
    struct os_file file = os_file_of(shell), path = os_file_of_path("/bin/sh"), other = os_file_of_path("/usr/bin/env");
    assert_true(file.state && file.state == path.state && file.bytes == path.bytes && file.state != other.state);
    assert_int_equal(write(fresh, "12345", 5), 5);
    assert_int_equal(os_file_of(fresh).bytes, 5);
    assert_int_equal(os_file_of(fresh).state, 0);
    assert_int_equal(os_file_of_path("/nonexistent").state, 0);
    os_close(shell);
    os_close(fresh);
}

UNIT_MAIN(NULL, NULL)
