/* A map that is too large for one sample is read in parts. */
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "unwind/loadmap.h"

#define PAGES 3000
#define PAGE  4096ul

static char *pages; /* every other one is executable */

/* The descriptor of a reading that is under way, -1 when there is none. */
static int reading(void)
{
    for (int fd = 0; fd < 1024; fd++) {
        char link[64], target[128] = "";
        snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
        ssize_t bytes = readlink(link, target, sizeof(target) - 1);
        if (bytes > 5 && strcmp(target + bytes - 5, "/maps") == 0)
            return fd;
    }
    return -1;
}

/* Samples, until a reading is under way. */
static int begin_reading(void)
{
    uint64_t end_ns = clock_now_ns() + 100 * NS_PER_S;
    int fd;
    while ((fd = reading()) < 0) {
        assert_true(clock_now_ns() < end_ns);
        usleep(200);
        loadmap_refresh_sometimes();
    }
    return fd;
}

/* Samples, until a reading has changed the map. Returns after how many of them it was under way. */
static unsigned read_until_changed(void)
{
    uint32_t generation = loadmap_generation();
    uint64_t end_ns = clock_now_ns() + 100 * NS_PER_S;
    unsigned parts = 0;
    while (loadmap_generation() == generation) {
        assert_true(clock_now_ns() < end_ns);
        usleep(2000);
        loadmap_refresh_sometimes();
        parts += reading() >= 0;
    }
    return parts;
}

static void check_pages(void)
{
    for (size_t i = 0; i < PAGES; i++) {
        const struct loadmap_range *range = loadmap_find((uintptr_t)pages + i * PAGE + 7);
        assert_int_equal(range != NULL, i % 2 == 0);
        assert_true(!range || range->end - range->start == PAGE);
    }
}

static int map_pages(void **unused)
{
    (void)unused;
    if (!loadmap_init())
        return -1;
    pages = mmap(NULL, PAGES * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (size_t i = 0; i < PAGES; i += 2)
        mprotect(pages + i * PAGE, PAGE, PROT_READ | PROT_EXEC);
    return pages == MAP_FAILED ? -1 : 0;
}

static int unmap_pages(void **unused)
{
    (void)unused;
    munmap(pages, PAGES * PAGE);
    loadmap_refresh();
    return 0;
}

#define FROM_MAP_PAGES(name) UNIT_TEST_WITH(name, map_pages, unmap_pages)

FROM_MAP_PAGES(the_parts_together_are_the_whole_map)
{
    assert_true(read_until_changed() >= 10);
    check_pages();
    assert_true(reading() < 0);
    assert_false(loadmap_refresh()); /* all at once it is the same */
}

FROM_MAP_PAGES(nothing_is_published_before_the_end)
{
    uint32_t generation = loadmap_generation();
    begin_reading();
    assert_int_equal(loadmap_generation(), generation);
    assert_null(loadmap_find((uintptr_t)pages));
    loadmap_refresh(); /* begins anew, and ends the one that was under way */
    assert_true(reading() < 0);
    check_pages();
}

/* Whoever closes all descriptors closes ours too, and may get its number for a file of its own. */
FROM_MAP_PAGES(a_descriptor_that_became_the_programs_is_left_alone)
{
    char text[] = "0-ffffffffffff r-xp 00000000 00:00 7 /of/the/program\n";
    int file = open(unit_fresh_path(), O_RDWR | O_CREAT, 0600), fd = begin_reading();
    assert_int_equal(write(file, text, sizeof(text)), sizeof(text));
    assert_int_equal(lseek(file, 0, SEEK_SET), 0);
    assert_int_equal(dup2(file, fd), fd);
    read_until_changed();
    check_pages();
    assert_int_equal(lseek(fd, 0, SEEK_CUR), 0);
    assert_int_equal(fcntl(fd, F_GETFD), 0); /* nor closed */
    close(fd);
    close(file);
    begin_reading();
    assert_int_equal(close(reading()), 0);
    mprotect(pages + PAGE, PAGE, PROT_READ | PROT_EXEC);
    read_until_changed();
    assert_non_null(loadmap_find((uintptr_t)pages + PAGE));
    unit_clean();
}

/* The parent's descriptor tells of the parent's memory. */
FROM_MAP_PAGES(a_child_reads_its_own_map)
{
    int status = -1, fd = begin_reading();
    pid_t child = fork();
    if (child == 0) {
        loadmap_forked();
        bool closed = fcntl(fd, F_GETFD) < 0;
        munmap(pages, PAGES / 2 * PAGE);
        read_until_changed();
        _exit(closed && !loadmap_find((uintptr_t)pages) && loadmap_find((uintptr_t)pages + (PAGES - 2) * PAGE) ? 0 : 1);
    }
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    read_until_changed();
    check_pages();
}

/* What stays is in every map, whatever comes and goes elsewhere between two parts. */
FROM_MAP_PAGES(mappings_that_change_meanwhile_disturb_no_others)
{
    uint64_t random = 4711;
    uint32_t generation = loadmap_generation(), changes = 0;
    /* A machine that is busy with others comes to the end of a reading late. */
    for (uint64_t begin_ns = clock_now_ns(); clock_now_ns() - begin_ns < NS_PER_S / 2 * (changes ? 1 : 40);
         usleep(500)) {
        size_t i = unit_random(&random) % (PAGES / 3); /* the first third changes */
        mprotect(pages + i * PAGE, PAGE, PROT_READ | (unit_random(&random) & 1 ? PROT_EXEC : 0));
        loadmap_refresh_sometimes();
        if (loadmap_generation() == generation)
            continue;
        generation = loadmap_generation();
        changes++;
        for (size_t stays = PAGES / 3 + 1; stays < PAGES; stays++)
            assert_int_equal(loadmap_find((uintptr_t)pages + stays * PAGE) != NULL, stays % 2 == 0);
        assert_non_null(loadmap_find((uintptr_t)map_pages));
    }
    assert_true(changes > 0);
}

static volatile sig_atomic_t lost; /* times that the core was taken away */

static void lose_core(int signal)
{
    (void)signal;
    lost++;
    usleep(100000);
}

/* A sample whose thread loses its core has not spent that time. */
FROM_MAP_PAGES(a_thread_that_loses_its_core_does_not_keep_the_map_from_being_read)
{
    const struct itimerval soon = {.it_value.tv_usec = 50};
    struct sigaction action = {.sa_handler = lose_core, .sa_flags = SA_RESTART}, before;
    uint64_t end_ns = clock_now_ns() + 100 * NS_PER_S, took_ns = 0;
    sigaction(SIGALRM, &action, &before);
    while (took_ns < NS_PER_S / 10) { /* until it was in a slice */
        assert_true(clock_now_ns() < end_ns);
        begin_reading();
        usleep(100000); /* a slice is due */
        int seen = lost;
        setitimer(ITIMER_REAL, &soon, NULL);
        uint64_t begin_ns = clock_now_ns();
        loadmap_refresh_sometimes();
        took_ns = clock_now_ns() - begin_ns;
        while (lost == seen)
            usleep(1000);
    }
    sigaction(SIGALRM, &before, NULL);
    end_ns = clock_now_ns() + 5 * NS_PER_S;
    read_until_changed();
    assert_true(clock_now_ns() < end_ns);
    check_pages();
}

UNIT_MAIN(NULL, NULL)
