#include "tests/unit/unit.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "base/run_counts.h"

static struct run_file file;

static int let_go(void **state)
{
    (void)state;
    run_file_let_go(&file);
    return 0;
}

/* The process's CPU time is the thread's: there is no other. */
static void use_cpu(long ns)
{
    struct timespec from, now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    while ((now.tv_sec - from.tv_sec) * 1000000000l + now.tv_nsec - from.tv_nsec < ns);
}

static void need_kernel(void)
{
    if (access("/proc/thread-self/schedstat", R_OK) != 0)
        skip(); /* CONFIG_SCHED_INFO */
}

/* A line of /proc/self/status. */
static long status_number(const char *name)
{
    char line[256];
    long number = -1;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && number < 0 && fgets(line, sizeof(line), file))
        if (strncmp(line, name, strlen(name)) == 0)
            number = atol(line + strlen(name));
    if (file)
        fclose(file);
    return number;
}

UNIT_TEST_WITH(a_kept_file_is_read_anew, NULL, let_go)
{
    struct run_counts before, after;
    need_kernel();
    assert_true(run_file_keep(&file));
    assert_true(run_counts_read(&file, &before));
    use_cpu(20000000); /* some ticks */
    assert_true(run_counts_read(&file, &after));
    assert_true(after.on_core_ns > before.on_core_ns && after.turns >= before.turns && before.turns > 0);
}

UNIT_TEST_WITH(sleep_is_a_turn_and_no_time_without_a_core, NULL, let_go)
{
    struct run_counts before, after;
    need_kernel();
    assert_true(run_file_keep(&file));
    assert_true(run_counts_read(&file, &before));
    nanosleep(&(struct timespec){0, 1000000}, NULL);
    assert_true(run_counts_read(&file, &after));
    assert_true(after.turns > before.turns);
}

/* Its number, which the program has for another file now. */
static int keep_and_lose(void)
{
    assert_true(run_file_keep(&file));
    int number = file.fd, null = open("/dev/null", O_RDONLY);
    assert_int_equal(dup2(null, number), number);
    close(null);
    return number;
}

UNIT_TEST(a_number_that_the_program_uses_now_is_neither_read_nor_closed)
{
    struct run_counts counts;
    struct stat theirs;
    need_kernel();
    for (int read = 0; read < 2; read++) {
        int number = keep_and_lose();
        if (read)
            assert_false(run_counts_read(&file, &counts));
        run_file_let_go(&file);
        assert_int_equal(file.fd, 0);
        assert_int_equal(fstat(number, &theirs), 0);
        assert_true(S_ISCHR(theirs.st_mode));
        close(number);
    }
}

UNIT_TEST(few_are_kept_of_few_descriptors)
{
    struct run_file files[16] = {{0}};
    struct rlimit limit, few;
    uint32_t kept = 0;
    need_kernel();
    getrlimit(RLIMIT_NOFILE, &limit);
    few = (struct rlimit){64, limit.rlim_max}; /* the numbers from 32 on are free */
    setrlimit(RLIMIT_NOFILE, &few);
    for (int i = 0; i < 16; i++)
        kept += run_file_keep(&files[i]);
    setrlimit(RLIMIT_NOFILE, &limit);
    assert_int_equal(kept, 4);
    for (int i = 0; i < 16; i++)
        run_file_let_go(&files[i]);
    assert_true(run_file_keep(&files[0])); /* their places are free again */
    run_file_let_go(&files[0]);
}

/* In a child, whose table is as small as it can be. 0: as it is to be. */
static int look_at_table(rlim_t may_have)
{
    struct run_file first, more[64];
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max < may_have ? limit.rlim_max : may_have;
    setrlimit(RLIMIT_NOFILE, &limit);
    if (status_number("FDSize:") >= 1024 || !run_file_keep(&first))
        return 1;
    long size = status_number("FDSize:");
    rlim_t needed = 400 + limit.rlim_cur / 16; /* HIGH_FD and SHARE */
    if (needed > 400 + 1024)
        needed = 400 + 1024;
    for (int fd = 3; fd < (int)limit.rlim_cur; fd++)
        if (fd != first.fd && fcntl(fd, F_GETFD) >= 0 && fd >= 64)
            return 2; /* one was left open */
    for (int i = 0; i < 64; i++)
        if (!run_file_keep(&more[i]) && i < 63)
            return 3;
    return size >= (long)needed && status_number("FDSize:") == size ? 0 : 4;
}

UNIT_TEST(the_table_of_descriptors_grows_once_at_the_first_thread)
{
    need_kernel();
    static const rlim_t limits[] = {1024, 20000};
    for (int i = 0; i < 2; i++) {
        pid_t child = fork();
        if (child == 0)
            _exit(look_at_table(limits[i]));
        int status = -1;
        waitpid(child, &status, 0);
        assert_int_equal(status, 0);
    }
}

UNIT_MAIN(NULL, NULL)
