#include "tests/unit/unit.h"

#include <errno.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "blame/ranks.h"
#include "cct/arena.h"
#include "ompt_tool/ranks/ranks_join.h"
#include "unwind/loadmap.h"

#define COMERS 3
#define ROUNDS 100

static char space[40];        /* this test's jobs are nobody else's */
static char segment_path[64]; /* of this test's job: programs that run beside have files there, too */

/* The mapping of a process's segment, as the kernel shows it; "": it has none. */
static char *segment_of(pid_t rank)
{
    static char line[4096];
    char maps[32], *found = NULL;
    snprintf(maps, sizeof(maps), "/proc/%d/maps", (int)rank);
    FILE *file = fopen(maps, "r");
    assert_non_null(file);
    while (!found && fgets(line, sizeof(line), file))
        found = strstr(line, "/dev/shm/blame-");
    fclose(file);
    return found ? found : "";
}

static void find_segment(pid_t rank)
{
    const char *found = segment_of(rank);
    if (*found)
        snprintf(segment_path, sizeof(segment_path), "%.*s", (int)strcspn(found, " \n"), found);
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

/* A process of the job; it says how many it sees when told to look, to call MPI, or to go on as another program, and stays until told to
 * leave. */
struct rank {
    pid_t pid;
    int says, hears;
};

static void be_told(char what)
{
    if (what == 'c')
        ranks_come();
    if (what == 'x') { /* as behind an exec(), where nothing is known of before */
        arena_header()->ranks_seen = 0;
        ranks_forget();
        ranks_join();
        ranks_appear();
    }
}

static void be_rank(uint32_t rank, const char *local, int says, int hears)
{
    char number[16], asked;
    snprintf(number, sizeof(number), "%u", rank);
    setenv("OMPI_COMM_WORLD_RANK", number, 1);
    setenv("OMPI_COMM_WORLD_SIZE", "3", 1);
    if (local)
        setenv("OMPI_COMM_WORLD_LOCAL_SIZE", local, 1);
    setenv("PMIX_NAMESPACE", space, 1);
    if (!arena_open(unit_fresh_path(), 0666))
        _exit(1);
    ranks_join();
    ranks_appear();
    while (write(says, &(uint32_t){arena_header()->ranks_seen ? seen_now() : 0}, 4) == 4 &&
           read(hears, &asked, 1) == 1 && asked != '!')
        be_told(asked);
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

static void calls(const struct rank *rank)
{
    assert_int_equal(write(rank->hears, "c", 1), 1);
    heard(rank);
}

static uint32_t goes_on(const struct rank *rank)
{
    assert_int_equal(write(rank->hears, "x", 1), 1);
    return heard(rank);
}

static struct rank start(uint32_t rank, const char *local, uint32_t *seen)
{
    int up[2], down[2];
    assert_int_equal(pipe(up) | pipe(down), 0);
    pid_t pid = fork();
    if (pid == 0 && prctl(PR_SET_PDEATHSIG, SIGKILL) == 0) /* of a test that fails nothing is left */
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

JOIN_TEST(when_all_have_called_mpi_there_is_no_file_any_more)
{
    uint32_t seen;
    struct rank a = start(0, "2", &seen), b = start(1, "2", &seen);
    calls(&a);
    calls(&a);
    assert_true(has_file());
    calls(&b);
    assert_int_equal(sees(&a), 2);
    assert_false(has_file());
    end(&a, SIGKILL);
    end(&b, SIGKILL);
    assert_false(has_file());
}

JOIN_TEST(a_program_without_mpi_before_a_ranks_own_is_not_one_more_rank)
{
    uint32_t seen;
    struct rank a = start(0, "2", &seen), b = start(1, "2", &seen);
    end(&a, 0);
    struct rank again = start(0, "2", &seen);
    assert_int_equal(seen, 2);
    end(&b, 0);
    calls(&again);
    b = start(1, "2", &seen);
    assert_int_equal(seen, 2);
    calls(&b);
    assert_false(has_file());
    end(&again, 0);
    end(&b, 0);
}

JOIN_TEST(who_goes_on_as_another_program_is_there_once)
{
    uint32_t seen;
    struct rank a = start(0, NULL, &seen), b = start(1, NULL, &seen);
    end(&a, 0); /* a free line before its own */
    assert_int_equal(goes_on(&b), 1);
    a = start(0, NULL, &seen);
    assert_int_equal(seen, 2);
    end(&a, 0);
    end(&b, 0);
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

/* One of many programs of each rank, one after the other, that know nothing of each other's begin and end: 0, if others find its file. */
static int come_and_go(uint32_t rank)
{
    char number[16];
    snprintf(number, sizeof(number), "%u", rank);
    setenv("OMPI_COMM_WORLD_RANK", number, 1);
    setenv("OMPI_COMM_WORLD_SIZE", "3", 1);
    setenv("PMIX_NAMESPACE", space, 1);
    if (!arena_open(unit_fresh_path(), 0666))
        return 1;
    ranks_join();
    bool seen = ranks_are_seen();
    for (int i = 0; i < 3 && seen; i++)
        seen = !strstr(segment_of(getpid()), "(deleted)");
    ranks_leave();
    unit_clean();
    return seen ? 0 : 2;
}

static int come_and_go_often(uint32_t rank)
{
    int status = 0;
    for (int round = 0; round < ROUNDS && status == 0; round++) {
        pid_t pid = fork();
        if (pid == 0)
            _exit(come_and_go(rank));
        waitpid(pid, &status, 0);
    }
    return WEXITSTATUS(status);
}

JOIN_TEST(who_comes_while_the_last_one_leaves_has_a_file_that_others_find)
{
    pid_t pids[COMERS];
    uint32_t seen;
    struct rank first = start(0, NULL, &seen); /* tells the file's name */
    end(&first, 0);
    for (uint32_t i = 0; i < COMERS; i++)
        if ((pids[i] = fork()) == 0)
            _exit(come_and_go_often(i));
    for (uint32_t i = 0; i < COMERS; i++) {
        int status;
        assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
        assert_int_equal(status, 0);
    }
    assert_false(has_file());
}

JOIN_TEST(what_a_killed_job_has_left_goes_with_the_next_one)
{
    char left[sizeof(segment_path)], live[sizeof(segment_path)];
    uint32_t seen;
    struct rank a = start(0, NULL, &seen), b = start(1, NULL, &seen);
    strcpy(left, segment_path);
    begin(NULL);
    struct rank other = start(0, NULL, &seen);
    strcpy(live, segment_path);
    assert_int_equal(access(left, F_OK), 0); /* one of its ranks is enough */
    end(&a, SIGKILL);
    end(&b, SIGKILL);
    begin(NULL);
    struct rank next = start(0, NULL, &seen);
    assert_int_equal(access(left, F_OK), -1);
    assert_int_equal(access(live, F_OK), 0);
    struct rank second = start(1, NULL, &seen);
    assert_int_equal(seen, 2);
    end(&other, 0);
    end(&next, 0);
    end(&second, 0);
}

JOIN_TEST(a_file_that_is_cut_is_left_alone)
{
    char left[sizeof(segment_path)];
    uint32_t seen;
    struct rank a = start(0, NULL, &seen), b = start(1, NULL, &seen);
    strcpy(left, segment_path);
    end(&a, SIGKILL);
    end(&b, SIGKILL);
    assert_int_equal(truncate(left, RANKS_HEADER_BYTES), 0);
    begin(NULL);
    a = start(0, NULL, &seen);
    assert_int_equal(seen, 1);
    assert_int_equal(access(left, F_OK), 0);
    end(&a, 0);
    unlink(left);
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
        struct profile_header *header = arena_open(unit_fresh_path(), 0666) ? arena_header() : NULL;
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
    assert_true(arena_open(unit_fresh_path(), 0666));
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
