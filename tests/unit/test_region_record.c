/* needs: tests/simulator/played.c */
/* The first thread of a team writes the region's record at the region's begin and end. A worker that read it would take the
 * cache line from the first thread's core in each region. */
#include "tests/unit/unit.h"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "cct/deferred/region.h"
#include "ompt_tool/context/levels.h"
#include "ompt_tool/context/runtime.h"
#include "ompt_tool/life/finisher.h"
#include "ompt_tool/session/session.h"
#include "ompt_tool/session/thread.h"
#include "tests/simulator/played.h"

extern ompt_start_tool_result_t *ompt_start_tool(unsigned omp_version, const char *runtime_version);

void finisher_find(void)
{
}

bool finisher_run(const char *directory, const char *file, char *why, size_t why_bytes)
{
    (void)directory, (void)file, (void)why, (void)why_bytes;
    return true;
}

static int start(void **state)
{
    (void)state;
    setenv("BLAME_OUT", unit_fresh_path(), 1);
    setenv("BLAME_SUMMARY", "0", 1);
    if (!played_start(ompt_start_tool, "played"))
        return -1;
    send_thread_begin(ompt_thread_initial);
    return 0;
}

static int end(void **state)
{
    (void)state;
    send_thread_end();
    played_finalize();
    unlink(session.file);
    rmdir(session.directory);
    unit_clean();
    return 0;
}

static char *page;
static volatile int reads;

static void open_page(int signal)
{
    (void)signal;
    reads++;
    mprotect(page, 4096, PROT_READ | PROT_WRITE);
}

/* Makes the page of the record unreadable, and counts each event of the worker that reads it. */
#define UNREAD(event)                                                                                                  \
    do {                                                                                                               \
        reads = 0;                                                                                                     \
        mprotect(page, 4096, PROT_NONE);                                                                               \
        event;                                                                                                         \
        mprotect(page, 4096, PROT_READ | PROT_WRITE);                                                                  \
        if (reads)                                                                                                     \
            fprintf(stderr, "reads the record: %s\n", #event);                                                         \
        total += reads;                                                                                                \
    } while (0)

static ompt_data_t teams[2];
static struct played_task workers[2];
static pthread_barrier_t both;

/* The events of a worker in two regions, in libomp's order. Returns the number of events that read the record. */
static void *work(void *argument)
{
    intptr_t total = 0;
    sigset_t all;
    (void)argument;
    sigfillset(&all); /* a sample may read the record, and so may the first events after one */
    sigdelset(&all, SIGSEGV);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    send_thread_begin(ompt_thread_worker);
    for (int i = 0; i < 2; i++) {
        played_task_init(&workers[i], &teams[i], ompt_task_implicit, 1);
        pthread_barrier_wait(&both);
        played_current = &workers[i];
        if (i > 0) {
            ompt_data_t copy = workers[0].data;
            thread_self->unusual.notes = false; /* few waits are noted if they follow each other quickly (notes.h) */
            UNREAD(send_wait_end(ompt_sync_region_barrier_implicit_parallel, NULL, &copy, NULL));
            assert_ptr_equal(levels_region(thread_self), region_of_word(teams[1].value)); /* it enters the next one */
            UNREAD(send_implicit_end(NULL, &copy, 0, 1, ompt_task_implicit));
        }
        UNREAD(send_implicit_begin(&workers[i], 2, 1));
        UNREAD(send_wait_begin(ompt_sync_region_barrier_explicit, &teams[i], &workers[i].data, NULL));
        thread_self->unusual.notes = false; /* a noted pass is written to another line of the record */
        UNREAD(send_wait_end(ompt_sync_region_barrier_explicit, &teams[i], &workers[i].data, NULL));
        UNREAD(send_wait_begin(ompt_sync_region_taskwait, &teams[i], &workers[i].data, NULL));
        UNREAD(send_wait_end(ompt_sync_region_taskwait, &teams[i], &workers[i].data, NULL));
        UNREAD(send_wait_begin(ompt_sync_region_barrier_implicit_parallel, &teams[i], &workers[i].data, NULL));
        pthread_barrier_wait(&both);
    }
    pthread_barrier_wait(&both);
    ompt_data_t copy = workers[1].data;
    send_wait_end(ompt_sync_region_barrier_implicit_parallel, NULL, &copy, NULL); /* its region has ended */
    assert_null(levels_region(thread_self));
    send_implicit_end(NULL, &copy, 0, 1, ompt_task_implicit);
    send_thread_end();
    return (void *)total;
}

UNIT_TEST(a_worker_reads_no_line_of_the_region_s_record)
{
    struct sigaction action = {.sa_handler = open_page};
    struct played_task initial;
    pthread_t thread;
    void *total;
    played_task_init(&initial, NULL, ompt_task_initial, 0);
    played_push(&initial);
    send_implicit_begin(&initial, 1, 1);
    pthread_barrier_init(&both, NULL, 2);
    for (int i = 0; i < 2; i++) {
        send_parallel_begin(&initial, &teams[i], 2, NULL);
        page = (char *)((uintptr_t)region_of_word(teams[i].value) & ~(uintptr_t)4095);
        if (i == 0) {
            sigaction(SIGSEGV, &action, NULL);
            assert_int_equal(pthread_create(&thread, NULL, work, NULL), 0);
        }
        pthread_barrier_wait(&both);
        pthread_barrier_wait(&both);
        send_parallel_end(&initial, NULL);
    }
    pthread_barrier_wait(&both);
    pthread_join(thread, &total);
    assert_int_equal((intptr_t)total, 0);
    pthread_barrier_destroy(&both);
    played_pop();
}

/* Begins a team of three while no memory can be mapped. */
static void begin_team_without_record(struct played_task *encounters, struct played_task *task, ompt_data_t *team)
{
    struct rlimit limit, none;
    struct region *free = thread_self->regions.free;
    getrlimit(RLIMIT_AS, &limit);
    none = limit;
    none.rlim_cur = 0;
    thread_self->regions.free = NULL;
    assert_int_equal(setrlimit(RLIMIT_AS, &none), 0);
    send_parallel_begin(encounters, team, 3, NULL);
    assert_int_equal(setrlimit(RLIMIT_AS, &limit), 0);
    thread_self->regions.free = free;
    assert_int_equal(team->value, 0);
    played_task_init(task, team, ompt_task_implicit, 0);
    played_push(task);
    send_implicit_begin(task, 3, 0);
}

static void end_team(struct played_task *encounters, struct played_task *task)
{
    send_implicit_end(NULL, &task->data, 3, 0, ompt_task_implicit);
    played_pop();
    send_parallel_end(encounters, NULL);
}

/* libgomp ends the threads of nested teams with their team, and keeps those of others. */
UNIT_TEST(a_team_of_libgomp_counts_although_its_region_has_no_record)
{
    struct played_task initial, outer, inner;
    ompt_data_t teams[2] = {{0}};
    played_task_init(&initial, NULL, ompt_task_initial, 0);
    played_push(&initial);
    send_implicit_begin(&initial, 1, 1);
    runtime.libgomp = LIBGOMP_FIRST;
    thread_self->record.usual = false;
    for (int i = 0; i < 2; i++) {
        begin_team_without_record(&initial, &outer, &teams[0]);
        assert_int_equal(thread_self->record.workers, 2);
        begin_team_without_record(&outer, &inner, &teams[1]);
        assert_int_equal(thread_self->record.workers, 4);
        end_team(&outer, &inner);
        end_team(&initial, &outer);
        assert_int_equal(thread_self->record.workers, 2);
    }
    runtime.libgomp = 0;
    played_pop();
}

UNIT_TEST(a_word_names_the_record_and_its_instance)
{
    struct region_pool pool = {0};
    struct region *region = region_begin(&pool, NULL, 1);
    assert_ptr_equal(region_of_word(region_word(region)), region);
    assert_true(region_word_is_open(region_word(region)));
    region->instance = REGION_INSTANCE_MASK;
    uint64_t last = region_word(region);
    assert_int_equal(region_word_instance(last), REGION_INSTANCE_MASK);
    assert_ptr_equal(region_of_word(last), region);
    region_close(&pool);
    region_end(region);
    assert_false(region_word_is_open(last));
    assert_ptr_equal(region_begin(&pool, NULL, 2), region);
    assert_int_equal(region->instance, 0);
    assert_false(region_word_is_open(last)); /* the record has another user */
    assert_true(region_word_is_open(region_word(region)));
    assert_int_equal(region_word(NULL), 0);
    assert_null(region_of_word(0));
}

UNIT_MAIN(start, end)
