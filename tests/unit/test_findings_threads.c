/* needs: tests/fuzz/fake_symbols.c */
/* Findings about threads that sleep, are not used or are not measured. */
#include "tests/unit/findings_program.h"

enum { USLEEP = 40, LOCK, JOIN, FUTEX, LATER_IN_HEAVY, WAIT_CONDITION, WAIT_CHILD, WAIT_EVENT, NAMED };
#define WITH_PROFILE(name) UNIT_TEST_WITH(name, start, destroy)

static int start(void **state)
{
    make(state);
    fake_function(FOREIGN_KEY(USLEEP), "usleep", "", 0, 0);
    fake_function(FOREIGN_KEY(LOCK), "pthread_mutex_lock", "", 0, 0);
    fake_function(KEY(LATER_IN_HEAVY), "heavy", "/s/p.c", 50, 58);
    fake_function(FOREIGN_KEY(JOIN), "std::thread::join()", "", 0, 0);
    fake_function(FOREIGN_KEY(FUTEX), "__futex_abstimed_wait_common", "", 0, 0);
    fake_function(FOREIGN_KEY(WAIT_CONDITION), "pthread_cond_wait", "", 0, 0);
    fake_function(FOREIGN_KEY(WAIT_CHILD), "__GI___wait4", "", 0, 0);
    fake_function(FOREIGN_KEY(WAIT_EVENT), "epoll_wait", "", 0, 0);
    return 0;
}

static void assert_in(const char *text, const char *words)
{
    if (!strstr(text, words))
        fail_msg("no \"%s\" in \"%s\"", words, text);
}

static uint32_t heavy(void)
{
    return frame(frame(frame(program.main_node, KEY(SOLVE)), KEY(REGION)), KEY(HEAVY));
}

/* Lets `busy` threads sleep in a call, beside idle threads of a team, if there are any. */
static uint32_t sleeps(uint32_t below, int call, double seconds, double busy, double team)
{
    uint32_t node = frame(below, FOREIGN_KEY(call));
    run(node, seconds, busy, team, PROFILE_PLACE_REGION_END);
    made.nodes[node].metric.blocked = made.nodes[node].metric.work;
    made.nodes[node].metric.work = 0;
    made.nodes[node].metric.blocked_idle = made.nodes[node].metric.shared_idle;
    return node;
}

WITH_PROFILE(a_call_in_which_all_threads_sleep_is_named_with_its_line)
{
    sleeps(heavy(), USLEEP, 2, THREADS, THREADS);
    const struct finding *finding = only("blocked");
    assert_string_equal(finding->title, "8.00 s blocked in usleep");
    assert_about(finding->seconds, 8);
    assert_in(finding->place, "heavy  p.c:51  < solve");
    assert_in(finding->advice, "needs no core");
}

WITH_PROFILE(waiting_in_a_loop_is_no_call_but_a_loop_of_the_program)
{
    uint32_t node = add(heavy(), PROFILE_NODE_PSEUDO, PROFILE_PSEUDO_SPINNING);
    run(node, 2, THREADS, THREADS, PROFILE_PLACE_REGION_END);
    made.nodes[node].metric.blocked = made.nodes[node].metric.overhead;
    made.nodes[node].metric.overhead = 0;
    const struct finding *finding = only("spin");
    assert_string_equal(finding->title, "spin-waiting on a flag in heavy: 17 % of the effort");
    assert_about(finding->seconds, 8);
    assert_in(finding->place, "heavy  p.c:5");
    /* 10 s more without a core would make it 14 % of all effort */
    uint32_t lost = add(program.main_node, PROFILE_NODE_PSEUDO, PROFILE_PSEUDO_NO_CORE);
    made.nodes[lost].metric = (struct profile_sums){.samples = 2000, .no_core = 10 * S, .inverse_busy = 10 * S};
    gather();
    assert_string_equal(found("spin")->title, "spin-waiting on a flag in heavy: 17 % of the effort with a core");
    made.profile.header.threads_max = 1; /* linked with a runtime, but without regions */
    made.profile.header.regions = 0;
    made.profile.thread_count = 2;
    gather();
    assert_in(found("spin")->advice, "a condition variable");
}

WITH_PROFILE(each_line_that_calls_is_a_finding_of_its_own)
{
    uint32_t region = frame(frame(program.main_node, KEY(SOLVE)), KEY(REGION));
    sleeps(frame(region, KEY(HEAVY)), USLEEP, 2, THREADS, THREADS);
    sleeps(frame(region, KEY(LATER_IN_HEAVY)), USLEEP, 3, THREADS, THREADS);
    gather();
    assert_int_equal(program.findings->count, 2);
    assert_in(program.findings->finding[0].place, "heavy  p.c:58  < solve");
    assert_in(program.findings->finding[1].place, "heavy  p.c:51  < solve");
}

WITH_PROFILE(one_call_below_several_regions_is_one_finding)
{
    sleeps(heavy(), USLEEP, 2, THREADS, THREADS);
    sleeps(frame(frame(program.main_node, KEY(OTHER_REGION)), KEY(HEAVY)), USLEEP, 2, THREADS, THREADS);
    assert_about(only("blocked")->seconds, 16);
    assert_in(program.findings->finding[0].evidence, "in 2 calling contexts");
}

WITH_PROFILE(waiting_for_a_lock_and_sleeping_with_it_are_two_findings)
{
    sleeps(heavy(), USLEEP, 1, THREADS, THREADS);
    sleeps(heavy(), LOCK, 3, THREADS, THREADS);
    gather();
    assert_int_equal(program.findings->count, 2);
    assert_string_equal(program.findings->finding[0].title,
                        "12.00 s blocked in pthread_mutex_lock (waiting for a lock)");
    assert_in(program.findings->finding[0].advice, "which one");
    assert_in(program.findings->finding[1].title, "4.00 s blocked in usleep");
}

WITH_PROFILE(sleep_that_others_wait_for_is_one_finding)
{
    sleeps(heavy(), USLEEP, 4, 1, THREADS);
    assert_in(only("coarse")->title, "blocked in usleep, and others wait");
}

/* At the end of the region the others wait, but for much less time than threads sleep. */
WITH_PROFILE(sleep_is_the_finding_where_others_wait_for_little_of_it)
{
    uint32_t node = heavy();
    sleeps(node, USLEEP, 5, THREADS, THREADS);
    sleeps(node, USLEEP, 1.2, 1, THREADS);
    assert_string_equal(only("blocked")->title, "21.20 s blocked in usleep");
    assert_in(program.findings->finding[0].evidence, "others waited for 3.60 s, mostly at a region end in solve");
}

WITH_PROFILE(a_sleep_for_which_others_wait_a_little_for_a_lock_names_the_lock)
{
    uint32_t node = sleeps(heavy(), USLEEP, 5, THREADS, THREADS);
    add_lock(node, 0x1234, 2);
    gather();
    assert_in(found("blocked")->evidence, "others waited for 2.00 s, mostly for 0x1234");
}

/* 6 s of waiting for a holder that sleeps, and works for some of its time. */
WITH_PROFILE(a_lock_whose_holder_sleeps_names_the_call)
{
    uint32_t holder = sleeps(heavy(), USLEEP, 2, 1, 1);
    made.nodes[holder].metric.inverse_busy = 2 * S / THREADS; /* one of the four sleeps, three wait */
    add_lock(holder, 0x1234, 6);
    made.nodes[holder].metric.work = 0.5 * S;
    const struct finding *finding = only("lock-bound");
    assert_string_equal(finding->title, "6.00 s of waiting for lock 0x1234, held while blocked in usleep");
    assert_in(finding->evidence, "nobody held the lock, and for about 80 % its holder slept");
    assert_in(finding->place, "heavy  p.c:51 (in usleep");
    assert_in(finding->advice, "before the lock is taken");
    made.nodes[holder].metric.work = 3 * S;
    finding = only("lock-bound");
    assert_string_equal(finding->title, "6.00 s of waiting for lock 0x1234");
    assert_in(finding->advice, "Do less while holding the lock");
}

/* The release of a mutex is blamed. The function around it sleeps for 2 s, in which three threads wait. If it works for
 * 2 s, that may be what they wait for. */
WITH_PROFILE(a_mutex_whose_holder_sleeps_names_the_call)
{
    uint32_t holder = heavy(), asleep = sleeps(holder, USLEEP, 2, 1, 1);
    made.nodes[asleep].metric.inverse_busy = 2 * S / THREADS;
    add_lock_of(PROFILE_LOCK_MUTEX, frame(holder, KEY(LATER_IN_HEAVY)), 0x1234, 6);
    const struct finding *finding = only("lock-bound");
    assert_in(finding->title, "held while blocked in usleep");
    assert_in(finding->evidence, "for about 100 % its holder slept");
    made.nodes[holder].metric.work = 2 * S;
    made.nodes[holder].metric.inverse_busy = 2 * S / THREADS;
    gather();
    assert_null(strstr(found("lock-bound")->title, "held while"));
}

/* The sleep of 2 s counts for a third of the waiting: nobody held the lock for the rest. */
WITH_PROFILE(a_lock_that_is_mostly_passed_on_is_not_held_while_blocked)
{
    uint32_t holder = sleeps(heavy(), USLEEP, 2, 1, 1);
    made.nodes[holder].metric.inverse_busy = 2 * S / THREADS; /* one of the four sleeps, three wait */
    add_lock(holder, 0x1234, 2);
    add_lock(add(holder, PROFILE_NODE_PSEUDO, PROFILE_PSEUDO_HANDOFF), 0x1234, 4);
    const struct finding *finding = only("lock-bound");
    assert_string_equal(finding->title, "6.00 s of waiting for lock 0x1234");
    assert_in(finding->advice, "Take it less often");
}

/* ---- what threads are blocked in ---- */

/* Threads that are not measured work until they are joined, and the team has nothing to do. */
WITH_PROFILE(a_serial_join_names_the_threads_and_the_call)
{
    sleeps(frame(frame(program.main_node, KEY(INIT)), FOREIGN_KEY(JOIN)), FUTEX, 5, 1, 1);
    const struct finding *finding = only("serial");
    assert_string_equal(finding->title, "5.00 s blocked in std::thread::join (waiting for other threads)");
    assert_in(finding->advice, "their work takes the time, not this call");
}

/* libstdc++ and Rust wait by syscall(), so only the names of other libraries tell what for. */
WITH_PROFILE(a_sleep_in_syscall_is_told_by_the_names_of_its_callers)
{
    enum { LATCH = 80, SYSCALL };
    fake_function(PROFILE_KEY(3, LATCH), "std::__detail::__platform_wait<int>(int const*, int)",
                  "/usr/include/c++/12/bits/atomic_wait.h", 100, 106);
    fake_function(FOREIGN_KEY(SYSCALL), "syscall", "", 0, 0);
    sleeps(frame(heavy(), PROFILE_KEY(3, LATCH)), SYSCALL, 5, THREADS, THREADS);
    assert_string_equal(only("blocked")->title,
                        "20.00 s blocked in std::__detail::__platform_wait (waiting for other threads)");
}

/* Python's library waits for the end of a thread by a semaphore. */
WITH_PROFILE(a_join_that_another_library_makes_of_a_semaphore_is_a_join)
{
    enum { THREAD_JOIN = 70, SEMAPHORE };
    fake_function(PROFILE_KEY(3, THREAD_JOIN), "Thread.join", "/usr/lib/python3.11/threading.py", 90, 91);
    fake_function(FOREIGN_KEY(SEMAPHORE), "sem_clockwait", "", 0, 0);
    sleeps(frame(frame(program.main_node, KEY(INIT)), PROFILE_KEY(3, THREAD_JOIN)), SEMAPHORE, 5, 1, 1);
    assert_in(only("serial")->advice, "their work takes the time, not this call");
}

WITH_PROFILE(a_join_for_which_a_team_waits_names_the_threads)
{
    sleeps(frame(heavy(), FOREIGN_KEY(JOIN)), FUTEX, 5, 1, THREADS);
    const struct finding *finding = only("coarse");
    assert_string_equal(finding->title, "blocked in std::thread::join (waiting for other threads), and others wait");
    assert_in(finding->advice, "their work takes the time, not this call");
}

/* One thread waits for another one's signal, and two for both. */
WITH_PROFILE(who_waits_for_a_thread_that_works_is_not_the_cause)
{
    uint32_t waits = sleeps(frame(heavy(), FOREIGN_KEY(WAIT_CONDITION)), FUTEX, 5, 1, 2);
    uint32_t works = frame(frame(frame(program.main_node, KEY(SOLVE)), KEY(REGION)), KEY(INIT));
    run(works, 5, 1, 2, PROFILE_PLACE_REGION_END);
    made.nodes[waits].metric.inverse_busy = made.nodes[works].metric.inverse_busy = 2.5 * S;
    assert_in(only("coarse")->title, "one thread works alone");
    assert_in(found("coarse")->place, "init");
    made.nodes[works].metric = (struct profile_sums){0};
    gather();
    assert_in(found("coarse")->title, "blocked in pthread_cond_wait");
}

/* Three threads mostly wait for another one's signal; the team waits at the end of the region for a short time only. */
WITH_PROFILE(a_wait_for_a_thread_that_works_is_a_finding_if_the_team_waits_for_less_time)
{
    uint32_t solve = frame(program.main_node, KEY(SOLVE));
    sleeps(frame(heavy(), FOREIGN_KEY(WAIT_CONDITION)), FUTEX, 5, 3, 3);
    sleeps(frame(heavy(), FOREIGN_KEY(WAIT_CONDITION)), FUTEX, 1, 1, 2);
    run(frame(frame(solve, KEY(REGION)), KEY(INIT)), 1, 1, THREADS, PROFILE_PLACE_REGION_END);
    gather();
    assert_string_equal(program.findings->finding[0].title,
                        "16.00 s blocked in pthread_cond_wait (waiting for other threads)");
    assert_in(found("coarse")->place, "init");
}

WITH_PROFILE(a_monitor_of_java_is_a_lock_although_it_is_built_on_a_condition)
{
    fake_function(FOREIGN_KEY(NAMED), "ObjectMonitor::enter(JavaThread*)", "", 0, 0);
    sleeps(frame(heavy(), FOREIGN_KEY(NAMED)), WAIT_CONDITION, 2, THREADS, THREADS);
    assert_string_equal(only("blocked")->title, "8.00 s blocked in ObjectMonitor::enter (waiting for a lock)");
}

/* A function is known by its whole name, however libraries and compilers decorate that. */
WITH_PROFILE(what_a_call_waits_for_is_not_guessed_from_a_part_of_its_name)
{
    static const struct {
        const char *name, *title;
    } calls[] = {
        {"__GI___poll", "blocked in poll (waiting for events)"},
        {"poll_cache", "blocked in poll_cache"},
        {"___pthread_mutex_lock", "blocked in pthread_mutex_lock (waiting for a lock)"},
        {"my_pthread_mutex_lock", "blocked in my_pthread_mutex_lock"},
        {"std::condition_variable::wait(std::unique_lock<std::mutex>&)",
         "blocked in std::condition_variable::wait (waiting for other threads)"},
        {"void std::__detail::__platform_wait<int>(int const*, int)", " (waiting for other threads)"},
        {"fsync", "blocked in fsync (waiting for storage)"},
        {"async_writer", "blocked in async_writer"},
        {"accept4", "blocked in accept4 (waiting for events)"},
        {"acceptable", "blocked in acceptable"},
    };
    for (int i = 0; i < (int)(sizeof calls / sizeof *calls); i++) {
        fake_function(FOREIGN_KEY(NAMED + i), calls[i].name, "", 0, 0);
        sleeps(heavy(), NAMED + i, 2, THREADS, THREADS);
        gather();
        const char *title = only("blocked")->title, *end = title + strlen(title);
        assert_string_equal(end - strlen(calls[i].title), calls[i].title);
        made.profile.node_count--;
    }
}

/* Threads end when they have done their work, and a server is idle without requests. */
WITH_PROFILE(waiting_for_an_end_or_an_event_promises_nothing)
{
    sleeps(heavy(), WAIT_EVENT, 5, THREADS, THREADS);
    const struct finding *finding = only("blocked");
    assert_string_equal(finding->title, "20.00 s blocked in epoll_wait (waiting for events)");
    assert_in(finding->advice, "no problem if the program had nothing else to do");
    assert_about(finding->gain_s, 0);
}

/* One thread; the threads that it waits for are not measured. */
WITH_PROFILE(a_join_of_threads_that_are_not_measured_is_told)
{
    sleeps(frame(frame(program.main_node, KEY(INIT)), FOREIGN_KEY(JOIN)), FUTEX, 5, 1, 1);
    made.profile.header.threads_max = made.profile.header.cores = 1;
    made.profile.header.regions = 0;
    assert_about(only("blocked")->gain_s, 0);
}

static void assert_blocked(int call, size_t findings)
{
    made.profile.header.environment = 1;
    made.profile.header.regions = 0;
    sleeps(frame(program.main_node, KEY(INIT)), call, 5, 3, 4);
    sleeps(frame(add(0, PROFILE_NODE_PSEUDO, PROFILE_PSEUDO_TRUNCATED), KEY(INIT)), call, 5, 3, 4);
    gather();
    assert_int_equal(program.findings->count, findings);
    destroy(NULL);
    start(NULL);
}

/* As main() does while its threads work, the helper threads of a Java program, and the consumers of a queue. */
WITH_PROFILE(a_thread_of_no_team_that_waits_for_threads_is_no_finding)
{
    assert_blocked(JOIN, 0);
    assert_blocked(WAIT_CONDITION, 0);
    assert_blocked(LOCK, 1);
    assert_blocked(USLEEP, 1);
}

/* Such as syscall() with which libraries wait for a word (futex). */
WITH_PROFILE(a_sleep_that_threads_of_the_program_end_is_a_wait_for_them)
{
    enum { SYSCALL = 50, MAIN_WAKES };
    fake_function(FOREIGN_KEY(SYSCALL), "syscall", "", 0, 0);
    fake_function(KEY(MAIN_WAKES), "main", "/s/p.c", 10, 17);
    uint32_t waiter = sleeps(heavy(), SYSCALL, 5, THREADS, THREADS);
    uint32_t waker = frame(frame(0, KEY(MAIN_WAKES)), FOREIGN_KEY(SYSCALL));
    struct merged_wake wake = {.waiter = waiter, .waker = waker, .ns = 9 * S};
    made.profile.wakes = &wake;
    made.profile.wake_count = 1;
    assert_string_equal(only("blocked")->title, "20.00 s blocked in syscall");
    wake.ns = 11 * S;
    assert_string_equal(only("blocked")->title, "20.00 s blocked in syscall (waiting for other threads)");
    assert_in(program.findings->finding[0].evidence, "mostly woken by main  p.c:17");
}

/* fflush() of the C library calls new_file_sync(), which writes; another library's select_device() sleeps. */
WITH_PROFILE(names_that_only_look_alike_say_nothing)
{
    enum { FLUSH = 50, NEW_FILE_SYNC, DEVICE };
    fake_function(FOREIGN_KEY(FLUSH), "fflush", "", 0, 0);
    fake_function(FOREIGN_KEY(NEW_FILE_SYNC), "_IO_new_file_sync", "", 0, 0);
    fake_function(PROFILE_KEY(3, DEVICE), "select_device", "/usr/include/device.h", 1, 1);
    sleeps(frame(heavy(), FOREIGN_KEY(FLUSH)), NEW_FILE_SYNC, 3, THREADS, THREADS);
    sleeps(frame(heavy(), PROFILE_KEY(3, DEVICE)), USLEEP, 2, THREADS, THREADS);
    gather();
    assert_int_equal(program.findings->count, 2);
    assert_string_equal(program.findings->finding[0].title, "12.00 s blocked in fflush");
    assert_string_equal(program.findings->finding[1].title, "8.00 s blocked in select_device");
}

/* Mapped files are read, and swapped pages come back, without a call. */
WITH_PROFILE(sleep_in_own_code_is_in_no_call)
{
    uint32_t node = heavy();
    run(node, 4, THREADS, THREADS, 0);
    made.nodes[node].metric.blocked = made.nodes[node].metric.work;
    made.nodes[node].metric.work = 0;
    assert_string_equal(only("blocked")->title, "16.00 s blocked in page faults or system calls of its own");
    assert_in(program.findings->finding[0].place, "heavy  p.c:51");
}

WITH_PROFILE(the_child_that_is_waited_for_has_another_profile)
{
    sleeps(heavy(), WAIT_CHILD, 2, THREADS, THREADS);
    assert_string_equal(only("blocked")->title, "8.00 s blocked in wait4 (waiting for another process)");
    assert_in(program.findings->finding[0].advice, "a profile of its own");
}

/* The script's function is in module 2, and those of Python's own extension in module 1. */
WITH_PROFILE(what_an_interpreter_does_counts_for_the_scripts_line)
{
    enum { SCRIPT = 60, READS, RECEIVES };
    strcpy(made.modules[0].path, "/opt/python/lib/lib-dynload/app");
    made.modules[1] = (struct profile_module){.path = "/home/user/fetch.py", .flags = PROFILE_MODULE_PYTHON};
    fake_function(FOREIGN_KEY(SCRIPT), "ask", "/home/user/fetch.py", 6, 7);
    fake_function(KEY(READS), "sock_recv", "/nowhere/socketmodule.c", 30, 31);
    fake_function(KEY(RECEIVES), "recv", "/usr/include/bits/socket2.h", 1, 1);
    uint32_t receives = frame(frame(frame(0, FOREIGN_KEY(SCRIPT)), KEY(READS)), KEY(RECEIVES));
    run(receives, 5, THREADS, THREADS, 0);
    made.nodes[receives].metric.blocked = made.nodes[receives].metric.work;
    made.nodes[receives].metric.work = 0;
    gather();
    assert_string_equal(found("blocked")->place, "ask  fetch.py:7");
    made.modules[1].flags = 0;
    gather();
    assert_in(found("blocked")->place, "sock_recv  socketmodule.c:31");
}

/* A thread of Python's library, in a function that has the name of a system call and calls another one. */
WITH_PROFILE(a_script_function_is_no_system_call)
{
    enum { BOOTSTRAP = 60, WAITS, POLLS };
    made.modules[0] =
        (struct profile_module){.path = "/usr/lib/python3.11/connection.py", .flags = PROFILE_MODULE_PYTHON};
    fake_function(KEY(BOOTSTRAP), "Thread._bootstrap", "/usr/lib/python3.11/threading.py", 6, 7);
    fake_function(KEY(WAITS), "wait", "/usr/lib/python3.11/connection.py", 30, 31);
    fake_function(FOREIGN_KEY(POLLS), "__GI___poll", "", 0, 0);
    uint32_t polls = frame(frame(frame(0, KEY(BOOTSTRAP)), KEY(WAITS)), FOREIGN_KEY(POLLS));
    run(polls, 5, THREADS, THREADS, 0);
    made.nodes[polls].metric.blocked = made.nodes[polls].metric.work;
    made.nodes[polls].metric.work = 0;
    assert_string_equal(only("blocked")->title, "20.00 s blocked in poll (waiting for events)");
}

WITH_PROFILE(a_process_that_is_stopped_is_in_no_call)
{
    made.nodes[add(0, PROFILE_NODE_PSEUDO, PROFILE_PSEUDO_STOPPED)].metric =
        (struct profile_sums){.blocked = 8 * S, .inverse_busy = 2 * S};
    gather();
    assert_int_equal(program.findings->count, 0);
}

/* ---- page faults ---- */

/* Counts page faults in 2 s of serial code. */
static void count_faults(const char *counter, double faults)
{
    uint32_t init = frame(program.main_node, KEY(INIT));
    run(init, 2, 1, 1, 0);
    made.profile.counter_name[0] = counter;
    made.profile.counter_count = 1;
    made.counters[0] = (struct merged_counters){.node = init, .counters = {.value = {faults}}};
    made.profile.counters_count = 1;
}

WITH_PROFILE(serial_code_with_many_page_faults_touches_memory_first)
{
    count_faults("perf::PAGE-FAULTS", 1e6);
    assert_string_equal(only("serial")->title, "2.00 s of serial code with 1000000 page faults (first touch)");
    assert_in(only("serial")->advice, "same schedule");
}

WITH_PROFILE(serial_code_with_few_page_faults_does_other_work)
{
    count_faults("page-faults", 1e5);
    assert_string_equal(only("serial")->title, "2.00 s of serial code");
}

WITH_PROFILE(other_counters_are_no_page_faults)
{
    count_faults("PAPI_TOT_INS", 1e6);
    assert_string_equal(only("serial")->title, "2.00 s of serial code");
}

/* ---- regions of one thread ---- */

static void make_one_thread(const char *environment)
{
    static char text[200];
    int bytes = snprintf(text, sizeof text, "environment%c%s%c", 0, environment, 0);
    make_program(1, 10);
    made.profile.header.cores = 4;
    made.profile.text = text;
    made.profile.text_bytes = (size_t)bytes;
}

UNIT_TEST_WITH(regions_of_one_thread_are_a_finding, NULL, destroy)
{
    make_one_thread("OMP_NUM_THREADS=4\n");
    const struct finding *finding = only("narrow");
    assert_string_equal(finding->title, "all 50 parallel regions run with one thread, on 4 cores");
    assert_about(finding->seconds, 10);
    assert_about(finding->gain_s, 7.5);
    assert_in(finding->place, "main [parallel p.c:90]");
    assert_in(finding->advice, "an if clause is false");
}

UNIT_TEST_WITH(the_environment_says_why_there_is_one_thread, NULL, destroy)
{
    make_one_thread("KMP_OMP_NUM_THREADS=3\nOMP_NUM_THREADS=1,2\n");
    assert_in(only("narrow")->advice, "OMP_NUM_THREADS is 1.");
    destroy(NULL);
    make_one_thread("OMP_THREAD_LIMIT=1\n");
    assert_in(only("narrow")->advice, "OMP_THREAD_LIMIT is 1.");
}

static void assert_no_finding(void)
{
    gather();
    assert_int_equal(program.findings->count, 0);
}

UNIT_TEST_WITH(one_thread_is_right_on_one_core_in_a_job_or_without_regions, NULL, destroy)
{
    make_one_thread("");
    made.profile.header.cores = 1;
    assert_no_finding();
    made.profile.header.cores = 4;
    made.profile.header.in_job = 1;
    assert_no_finding();
    made.profile.header.in_job = 0;
    made.profile.header.regions = 0;
    assert_no_finding();
    made.profile.header.regions = 1;
    assert_in(only("narrow")->title, "the only parallel region runs with one thread");
}

UNIT_MAIN(NULL, NULL)
