/* What a connection's end gives to a call that a sample has cut in parts, and to the calls behind it: the same as without samples. */
#include "restart_calls.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <unistd.h>

enum { MOST_BYTES = 1 << 25, HAVE_BYTES = 5000, MORE_BYTES = 3000, CALLS_BEHIND = 2 };
enum when { ALONE, BEFORE_THE_REST, WHILE_THE_REST_WAITS };

static char bytes[MOST_BYTES];

static struct {
    ssize_t (*call)(int fd);
    enum when when;
    int program, peer; /* the connection's ends */
    _Atomic pid_t thread;
    _Atomic bool is_cut, may_go_on;
    ssize_t moved;
    ssize_t behind[CALLS_BEHIND]; /* or -errno */
} run;

static ssize_t send_much(int fd)
{
    return send(fd, bytes, sizeof bytes, MSG_NOSIGNAL);
}

static ssize_t write_much(int fd)
{
    return write(fd, bytes, sizeof bytes);
}

static ssize_t receive_record(int fd)
{
    return recv(fd, bytes, HAVE_BYTES + MORE_BYTES, MSG_WAITALL);
}

static ssize_t receive_much(int fd)
{
    return recv(fd, bytes, sizeof bytes, MSG_WAITALL);
}

static void connect_ends(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(listener, (struct sockaddr *)&address, size), 0);
    assert_int_equal(listen(listener, 1), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &size), 0);
    run.program = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(connect(run.program, (struct sockaddr *)&address, size), 0);
    run.peer = accept(listener, NULL, NULL);
    assert_true(run.peer >= 0);
    close(listener);
}

/* In the sample that has made the call go on. */
static void hold(void)
{
    set_period(0);
    run.is_cut = true;
    while (run.when == BEFORE_THE_REST && !run.may_go_on)
        ;
}

static void *make_calls(void *unused)
{
    (void)unused;
    sampler_open();
    if (run.when != ALONE)
        set_period(MS);
    run.thread = (pid_t)syscall(SYS_gettid);
    run.moved = run.call(run.program);
    set_period(0);
    bool sends = run.call == send_much || run.call == write_much;
    for (int i = 0; i < CALLS_BEHIND; i++) {
        run.behind[i] = sends ? send(run.program, bytes, 1, MSG_NOSIGNAL) : recv(run.program, bytes, MOST_BYTES, 0);
        if (run.behind[i] < 0)
            run.behind[i] = -errno;
    }
    sampler_close();
    return NULL;
}

static void await_sleep(void)
{
    char path[64], text[128] = "", *state;
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", run.thread);
    do {
        int fd = open(path, O_RDONLY);
        ssize_t length = read(fd, text, sizeof text - 1);
        close(fd);
        text[length > 0 ? length : 0] = 0;
        state = strrchr(text, ')');
    } while (!state || state[2] != 'S');
}

static pthread_t begin(ssize_t (*call)(int fd), enum when when)
{
    pthread_t thread;
    memset(&run, 0, sizeof run);
    run.call = call;
    run.when = when;
    connect_ends();
    on_call_put_back = hold;
    assert_int_equal(send(run.peer, bytes, HAVE_BYTES, 0), HAVE_BYTES); /* who sends never reads them */
    pthread_create(&thread, NULL, make_calls, NULL);
    while (!run.thread || (when != ALONE && !run.is_cut))
        sched_yield();
    if (when != BEFORE_THE_REST)
        await_sleep();
    return thread;
}

static void finish(pthread_t thread)
{
    run.may_go_on = true;
    pthread_join(thread, NULL);
    on_call_put_back = NULL;
    close(run.program);
}

static void reset(void)
{
    struct linger none = {.l_onoff = 1};
    assert_int_equal(setsockopt(run.peer, SOL_SOCKET, SO_LINGER, &none, sizeof none), 0);
    close(run.peer);
}

static void check_reset(ssize_t (*call)(int fd), ssize_t more, ssize_t behind, ssize_t last)
{
    for (enum when when = ALONE; when <= WHILE_THE_REST_WAITS; when++) {
        pthread_t thread = begin(call, when);
        if (more)
            assert_int_equal(send(run.peer, bytes, (size_t)more, 0), more);
        reset();
        finish(thread);
        assert_true(run.moved > 0 && run.moved < MOST_BYTES);
        if (last == 0)
            assert_int_equal(run.moved, HAVE_BYTES + more);
        assert_int_equal(run.behind[0], behind);
        assert_int_equal(run.behind[1], last);
    }
}

UNIT_TEST(a_reset_is_told_by_the_call_behind_the_part)
{
    check_reset(send_much, 0, -ECONNRESET, -EPIPE);
    check_reset(write_much, 0, -ECONNRESET, -EPIPE);
    check_reset(receive_much, 0, -ECONNRESET, 0);
}

UNIT_TEST(what_came_before_a_reset_is_received)
{
    check_reset(receive_much, MORE_BYTES, -ECONNRESET, 0);
    check_reset(receive_record, MORE_BYTES, -ECONNRESET, 0);
}

UNIT_TEST(an_end_without_error_gives_the_part)
{
    for (enum when when = ALONE; when <= WHILE_THE_REST_WAITS; when++) {
        pthread_t thread = begin(receive_much, when);
        close(run.peer);
        finish(thread);
        assert_int_equal(run.moved, HAVE_BYTES);
        assert_int_equal(run.behind[0], 0);
    }
}

static void *drain(void *all)
{
    for (ssize_t left = (ssize_t)(intptr_t)all, got; left > 0; left -= got)
        if ((got = recv(run.peer, (char[1 << 16]){0}, 1 << 16, 0)) <= 0)
            return NULL;
    return all;
}

UNIT_TEST(a_connection_that_lives_moves_all)
{
    for (enum when when = ALONE; when <= WHILE_THE_REST_WAITS; when++) {
        pthread_t thread = begin(send_much, when);
        run.may_go_on = true;
        assert_non_null(drain((void *)(intptr_t)MOST_BYTES));
        reset();
        finish(thread);
        assert_int_equal(run.moved, MOST_BYTES);
    }
}

static atomic_bool has_come;

static void on_program_signal(int signal_number)
{
    (void)signal_number;
    has_come = true;
}

UNIT_TEST(a_signal_of_the_programs_ends_the_rest_with_the_part)
{
    struct sigaction action = {.sa_handler = on_program_signal, .sa_flags = SA_RESTART};
    assert_int_equal(sigaction(PROGRAM_SIGNAL, &action, NULL), 0);
    for (enum when when = ALONE; when <= WHILE_THE_REST_WAITS; when++) {
        has_come = false;
        pthread_t thread = begin(receive_much, when);
        pthread_kill(thread, PROGRAM_SIGNAL);
        run.may_go_on = true;
        while (!has_come)
            sched_yield();
        assert_int_equal(send(run.peer, bytes, MORE_BYTES, 0), MORE_BYTES);
        reset();
        finish(thread);
        assert_int_equal(run.moved, HAVE_BYTES);
        assert_int_equal(run.behind[0], MORE_BYTES);
    }
}

UNIT_TEST(a_rest_that_waits_can_be_cancelled)
{
    void *result = NULL;
    pthread_t thread = begin(send_much, WHILE_THE_REST_WAITS);
    pthread_cancel(thread);
    pthread_join(thread, &result);
    assert_ptr_equal(result, PTHREAD_CANCELED);
    on_call_put_back = NULL;
    close(run.program);
    close(run.peer);
}

UNIT_MAIN(open_objects, close_objects)
