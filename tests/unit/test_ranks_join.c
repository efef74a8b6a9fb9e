#include "tests/unit/unit.h"

#include <errno.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "blame/ranks.h"
#include "cct/arena.h"
#include "ompt_tool/ranks_join.h"
#include "unwind/loadmap.h"

static char space[40]; /* this test's jobs are nobody else's */
static char segment_path[64]; /* of this test's job: programs that run beside have files there, too */

static void find_segment(pid_t rank)
{
    char maps[32], line[4096], *found;
    snprintf(maps, sizeof(maps), "/proc/%d/maps", (int)rank);
    FILE *file = fopen(maps, "r");
    assert_non_null(file);
    while (fgets(line, sizeof(line), file))
        if ((found = strstr(line, "/dev/shm/blame-")))
            snprintf(segment_path, sizeof(segment_path), "%.*s", (int)strcspn(found, " \n"), found);
    fclose(file);
}

static bool has_file(void)
{
    return *segment_path && access(segment_path, F_OK) == 0;
}

static uint32_t seen_now(void)
{
    struct clock_reading clocks = clock_read();
    return ranks_census_at(&clocks, clocks.ns).seen;
}

/* A process of the job; it says how many it sees when told to look, and stays until told to leave. */
struct rank {
    pid_t pid;
    int says, hears;
};

static void be_rank(uint32_t rank, const char *local, int says, int hears)
{
    char number[16], asked;
    snprintf(number, sizeof(number), "%u", rank);
    setenv("OMPI_COMM_WORLD_RANK", number, 1);
    setenv("OMPI_COMM_WORLD_SIZE", "3", 1);
    if (local)
        setenv("OMPI_COMM_WORLD_LOCAL_SIZE", local, 1);
    setenv("PMIX_NAMESPACE", space, 1);
    if (!arena_open(unit_fresh_path()))
        _exit(1);
    ranks_join();
    ranks_appear();
    while (write(says, &(uint32_t){arena_header()->ranks_seen ? seen_now() : 0}, 4) == 4 &&
           read(hears, &asked, 1) == 1 && asked == '?')
        ;
    ranks_leave();
    unit_clean();
    _exit(0);
}

static uint32_t heard(const struct rank *rank)
{
    uint32_t seen = 0;
    assert_int_equal(read(rank->says, &seen, sizeof(seen)), sizeof(seen));
    return seen;
}

static uint32_t sees(const struct rank *rank)
{
    assert_int_equal(write(rank->hears, "?", 1), 1);
    return heard(rank);
}

static struct rank start(uint32_t rank, const char *local, uint32_t *seen)
{
    int up[2], down[2];
    assert_int_equal(pipe(up) | pipe(down), 0);
    pid_t pid = fork();
    if (pid == 0)
        be_rank(rank, local, up[1], down[0]);
    close(up[1]);
    close(down[0]);
    struct rank started = {pid, up[0], down[1]};
    *seen = heard(&started);
    if (*seen)
        find_segment(pid);
    return started;
}

static void end(const struct rank *rank, int signal)
{
    int status;
    if (signal)
        kill(rank->pid, signal);
    else
        assert_int_equal(write(rank->hears, "!", 1), 1);
    assert_int_equal(waitpid(rank->pid, &status, 0), rank->pid);
    close(rank->says);
    close(rank->hears);
    if (!signal)
        assert_int_equal(status, 0);
}

static int begin(void **unused)
{
    static int number;
    (void)unused;
    snprintf(space, sizeof(space), "unit-%d-%d", (int)getpid(), number++);
    *segment_path = '\0';
    return 0;
}

#define JOIN_TEST(name) UNIT_TEST_WITH(name, begin, NULL)

JOIN_TEST(ranks_of_a_job_see_each_other_and_the_last_one_cleans_up)
{
    uint32_t seen;
    struct rank a = start(0, NULL, &seen);
    assert_int_equal(seen, 1);
    assert_true(has_file());
    struct rank b = start(1, NULL, &seen);
    assert_int_equal(seen, 2);
    assert_int_equal(sees(&a), 2);
    end(&a, 0);
    assert_int_equal(sees(&b), 1);
    assert_true(has_file());
    end(&b, 0);
    assert_false(has_file());
}

JOIN_TEST(when_all_have_come_there_is_no_file_any_more)
{
    uint32_t seen;
    struct rank a = start(0, "2", &seen), b = start(1, "2", &seen);
    assert_int_equal(sees(&a), 2);
    assert_false(has_file());
    end(&a, SIGKILL);
    end(&b, SIGKILL);
    assert_false(has_file());
}

JOIN_TEST(who_was_killed_makes_room_for_the_next_of_its_rank)
{
    uint32_t seen;
    struct rank a = start(0, NULL, &seen), b = start(1, NULL, &seen);
    end(&a, SIGKILL);
    struct rank again = start(0, NULL, &seen);
    assert_int_equal(seen, 2);
    struct rank twice = start(0, NULL, &seen); /* a second process of a rank that lives is none */
    assert_int_equal(seen, 0);
    assert_int_equal(sees(&b), 2);
    end(&twice, 0);
    end(&again, 0);
    end(&b, 0);
    assert_false(has_file());
}

JOIN_TEST(without_room_in_memory_nothing_is_seen_and_nothing_breaks)
{
    struct rlimit limit, none;
    uint32_t seen;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    none = limit;
    none.rlim_cur = 4096;
    setrlimit(RLIMIT_FSIZE, &none);
    pid_t pid = fork();
    if (pid == 0) {
        setrlimit(RLIMIT_FSIZE, &limit);
        struct profile_header *header = arena_open(unit_fresh_path()) ? arena_header() : NULL;
        setrlimit(RLIMIT_FSIZE, &none);
        setenv("OMPI_COMM_WORLD_RANK", "1", 1);
        setenv("OMPI_COMM_WORLD_SIZE", "3", 1);
        setenv("PMIX_NAMESPACE", space, 1);
        ranks_join();
        bool seen_none = header && header->ranks_seen == 0 && !ranks_are_seen();
        ranks_leave();
        unit_clean();
        _exit(!seen_none);
    }
    setrlimit(RLIMIT_FSIZE, &limit);
    int status;
    waitpid(pid, &status, 0);
    assert_int_equal(status, 0);
    struct rank a = start(0, NULL, &seen); /* what that one left is as good as new */
    assert_int_equal(seen, 1);
    end(&a, 0);
    assert_false(has_file());
}

JOIN_TEST(what_is_no_job_has_no_segment)
{
    unsetenv("PMIX_NAMESPACE");
    assert_true(arena_open(unit_fresh_path()));
    ranks_join();
    assert_false(ranks_are_seen());
    find_segment(getpid());
    assert_string_equal(segment_path, "");
    ranks_leave();
    arena_abandon();
    unit_clean();
}

static int prepare(void **unused)
{
    (void)unused;
    clock_ticks_init();
    return loadmap_init() ? 0 : -1;
}

UNIT_MAIN(prepare, NULL)
