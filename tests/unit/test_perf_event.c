#include "tests/unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/mman.h>

#include "base/perf_event.h"

#define PAGES 100

static struct perf_event software(uint64_t config)
{
    struct perf_event event = {0};
    struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE, .config = config};
    memcpy(event.attr, &attr, sizeof attr);
    perf_event_user_only(&event); /* what anybody may count */
    return event;
}

/* Where the kernel lets nobody count (seccomp, paranoid) there is nothing to test. */
static void open_or_skip(struct perf_group *group, const struct perf_event *events, uint32_t count)
{
    if (perf_group_open(group, events, count))
        return;
    if (errno == EPERM || errno == EACCES || errno == ENOSYS)
        skip();
    fail_msg("%s", strerror(errno));
}

static void touch_fresh_pages(void)
{
    char *memory = mmap(NULL, PAGES * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(memory, MAP_FAILED);
    madvise(memory, PAGES * 4096, MADV_NOHUGEPAGE);
    for (int i = 0; i < PAGES; i++)
        ((volatile char *)memory)[i * 4096] = 1;
    munmap(memory, PAGES * 4096);
}

UNIT_TEST(a_group_counts_what_the_thread_does)
{
    struct perf_event events[] = {software(PERF_COUNT_SW_TASK_CLOCK), software(PERF_COUNT_SW_PAGE_FAULTS)};
    struct perf_group group;
    uint64_t before[2], after[2];
    open_or_skip(&group, events, 2);
    assert_true(perf_group_read(&group, before));
    touch_fresh_pages();
    assert_true(perf_group_read(&group, after));
    assert_in_range(after[1] - before[1], PAGES, 10 * PAGES); /* sanitizers touch shadow pages */
    assert_true(after[0] > before[0]);
    perf_group_close(&group);
    assert_false(perf_group_read(&group, after));
}

UNIT_TEST(descriptors_do_not_survive_an_exec)
{
    struct perf_event event = software(PERF_COUNT_SW_PAGE_FAULTS);
    struct perf_group group;
    open_or_skip(&group, &event, 1);
    assert_true(fcntl(group.fd[0], F_GETFD) & FD_CLOEXEC);
    perf_group_close(&group);
}

/* The program closes what it does not know, and opens a pipe that gets the number. */
UNIT_TEST(a_descriptor_that_is_the_programs_by_now_is_let_alone)
{
    struct perf_event event = software(PERF_COUNT_SW_PAGE_FAULTS);
    struct perf_group group;
    uint64_t value;
    int ends[2];
    char text[8];
    open_or_skip(&group, &event, 1);
    int fd = group.fd[0];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(dup2(ends[0], fd), fd);
    assert_int_equal(write(ends[1], "program", 8), 8);
    assert_false(perf_group_read(&group, &value));
    perf_overflow_arm(&group);
    perf_overflow_stop(&group);
    perf_group_close(&group);
    assert_int_equal(read(fd, text, sizeof text), 8);
    assert_string_equal(text, "program");
    close(fd);
    close(ends[0]);
    close(ends[1]);
}

static int overflows, overflow_fd;

static void note_overflow(int signal, siginfo_t *info, void *context)
{
    (void)signal, (void)context;
    overflows++;
    overflow_fd = info->si_fd;
}

UNIT_TEST(an_overflow_signals_once_for_each_arming)
{
    struct perf_event event = software(PERF_COUNT_SW_PAGE_FAULTS);
    struct perf_group group;
    struct sigaction action = {.sa_sigaction = note_overflow, .sa_flags = SA_SIGINFO}, old;
    open_or_skip(&group, &event, 1); /* only to know whether it is allowed */
    perf_group_close(&group);
    sigaction(SIGRTMIN + 3, &action, &old);
    assert_true(perf_overflow_open(&group, &event, 10, SIGRTMIN + 3));
    overflows = 0;
    touch_fresh_pages();
    assert_int_equal(overflows, 0);
    for (int i = 1; i <= 3; i++) {
        perf_overflow_arm(&group);
        touch_fresh_pages();
        assert_int_equal(overflows, i);
        assert_int_equal(overflow_fd, group.fd[0]);
    }
    perf_overflow_arm(&group);
    perf_overflow_stop(&group);
    touch_fresh_pages();
    assert_int_equal(overflows, 3);
    perf_group_close(&group);
    sigaction(SIGRTMIN + 3, &old, NULL);
}

UNIT_TEST(the_kernels_clocks_are_known)
{
    struct perf_event clock = software(PERF_COUNT_SW_TASK_CLOCK), faults = software(PERF_COUNT_SW_PAGE_FAULTS);
    assert_true(perf_event_is_clock(&clock));
    assert_false(perf_event_is_clock(&faults));
}

UNIT_TEST(what_the_kernel_does_not_know_is_refused)
{
    struct perf_event event = software(12345);
    struct perf_group group;
    assert_false(perf_group_open(&group, &event, 1));
    assert_false(perf_overflow_open(&group, &event, 1, SIGRTMIN + 3));
    assert_false(perf_group_open(&group, &event, 0));
}

UNIT_MAIN(NULL, NULL)
