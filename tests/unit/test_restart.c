/* Interrupted calls return what and when they would without a sampler. */
#include "restart_calls.h"

#include <fcntl.h>
#include <sys/mman.h>

static void wait_for_a_sample(void)
{
    unsigned samples = *(volatile unsigned *)&sampler.samples;
    while (*(volatile unsigned *)&sampler.samples == samples)
        ;
}

/* What is noted in a sample takes system calls: nothing, before a call was interrupted that needs it. The first test: it
 * is for good. */
UNIT_TEST(nothing_is_noted_until_a_call_needs_it)
{
    struct timespec limit = in_ns(5 * MS);
    struct epoll_event event;
    set_period(MS);
    nanosleep(&limit, NULL);
    wait_for_a_sample();
    bool before = sampler.state.base_valid;
    unsigned put_back = sampler.results[RESTART_DONE];
    while (sampler.results[RESTART_DONE] == put_back) /* a late sample may come when the call is over */
        assert_int_equal(epoll_wait(epoll_fd, &event, 1, 20), 0);
    wait_for_a_sample();
    set_period(0);
    assert_false(before);
    assert_true(sampler.state.base_valid);
}

/* The call that is made, and what the first sample in it found. */
static struct {
    const struct call *call;
    long limit_ns;
    uint64_t begun_ns; /* at the latest */
    uint64_t deadline_ns;
    unsigned put_back;
    const char *wrong;
} watched;

static void expect(bool holds, const char *what)
{
    if (!holds && !watched.wrong)
        watched.wrong = what;
}

static bool is_unchanged(void)
{
    const greg_t *is = sampler.context->uc_mcontext.gregs, *was = sampler.registers.gregs;
    for (int i = 0; i < REG_CSGSFS; i++)
        if (is[i] != was[i] && i != REG_RAX && i != REG_RIP)
            return false;
    return is[REG_RIP] == was[REG_RIP] - 2;
}

static void check_stub(const struct restart_frame *job)
{
    uint64_t latest_ns = sampler.now_ns + (uint64_t)watched.limit_ns;
    bool left = watched.call->traits & LEFT;
    uint64_t left_ns = (uint64_t)job->left.tv_sec * NS_PER_S + (uint64_t)job->left.tv_nsec;
    expect(!(watched.call->traits & (BY_KERNEL | IN_PLACE)), "it is made by the stub");
    if (!sampler.waited) {
        watched.deadline_ns = job->deadline_ns;
        expect(job->deadline_ns >= watched.begun_ns + (uint64_t)watched.limit_ns, "it will be early");
        expect(left ? job->deadline_ns < latest_ns : job->deadline_ns <= latest_ns, "its limit is longer");
    }
    expect(job->deadline_ns == watched.deadline_ns, "its deadline has moved");
    expect(job->deadline_ns <= left_ns + clock_now_ns(), "it waits for less than is left");
    expect(job->deadline_ns >= left_ns + sampler.now_ns || left_ns == 0, "it waits for more than is left");
}

/* A call that was put back is due when it was before. */
static void check_deadline(void)
{
    const greg_t *gregs = sampler.context->uc_mcontext.gregs;
    watched.put_back++;
    if (gregs[REG_RIP] == (greg_t)restart_wait_enter)
        check_stub(&sampler.state.job);
    else if (sampler.state.resume)
        expect(watched.call->traits & BY_KERNEL, "the kernel continues it");
    else if (sampler.waited)
        expect(sampler.now_ns >= watched.deadline_ns, "it is answered before its time");
    else
        expect(watched.call->traits & IN_PLACE && is_unchanged(), "it is made again");
}

UNIT_TEST(calls_that_are_put_back_are_due_when_they_were)
{
    on_call_put_back = check_deadline;
    for (int i = 0; i < call_count; i++) {
        if (CALLS[i].traits & UNLIMITED)
            continue;
        watched.call = &CALLS[i];
        watched.limit_ns = 20 * MS; /* of sockets it is in jiffies */
        for (watched.put_back = 0; watched.put_back < 40;) {
            set_period(MS);
            watched.begun_ns = clock_now_ns();
            int result = CALLS[i].make(watched.limit_ns);
            uint64_t end_ns = clock_now_ns();
            set_period(0);
            if (result != 0 || watched.wrong)
                fail_msg("%s gave %d: %s", CALLS[i].name, result, watched.wrong ? watched.wrong : "");
            assert_true(end_ns >= watched.begun_ns + (uint64_t)watched.limit_ns);
        }
    }
    on_call_put_back = NULL;
}

/* The time limits that kernel and C library write back, and what a file that becomes ready returns. */
static void *write_a_byte(void *delay_ns)
{
    struct timespec delay = in_ns((long)(intptr_t)delay_ns);
    nanosleep(&delay, NULL);
    return write(pipe_fds[1], "x", 1) == 1 ? NULL : delay_ns;
}

UNIT_TEST(events_end_calls)
{
    for (int i = 0; i < 20; i++) {
        pthread_t thread;
        char byte;
        struct pollfd fd = poll_pipe();
        struct timeval limit = {AMPLE_NS / (1000 * MS), 0};
        fd_set set;
        FD_ZERO(&set);
        FD_SET(pipe_fds[0], &set);
        set_period(MS);
        pthread_create(&thread, NULL, write_a_byte, (void *)(intptr_t)(i * MS / 2));
        uint64_t begin_ns = clock_now_ns();
        if (i % 2 == 0)
            assert_int_equal(poll(&fd, 1, AMPLE_NS / MS), 1);
        else
            assert_int_equal(select(pipe_fds[0] + 1, &set, NULL, NULL, &limit), 1);
        long passed_ns = (long)(clock_now_ns() - begin_ns);
        long left_ns = limit.tv_sec * 1000 * MS + limit.tv_usec * 1000;
        set_period(0);
        assert_true(i % 2 == 0 ? fd.revents == POLLIN : FD_ISSET(pipe_fds[0], &set));
        if (i % 2 != 0)
            assert_true(left_ns < AMPLE_NS && left_ns + 1000 + passed_ns >= AMPLE_NS);
        assert_int_equal(read(pipe_fds[0], &byte, 1), 1);
        pthread_join(thread, NULL);
    }
}

/* A sleep with an end of its own may be over before a late sample finds it. */
static void *write_a_byte_when_asleep(void *asleep)
{
    bool found = false;
    for (uint64_t end_ns = clock_now_ns() + 20 * NS_PER_S; !found && clock_now_ns() < end_ns;) {
        nanosleep(&(struct timespec){0, MS}, NULL);
        found = *(volatile unsigned *)asleep > 0;
    }
    return write(pipe_fds[1], "x", 1) == 1 && found ? NULL : asleep;
}

/* Whether the kernel repeats the call (read), or leaves that to us. */
UNIT_TEST(who_waits_in_a_call_is_asleep_and_who_works_is_not)
{
    pthread_t thread;
    void *found;
    char byte;
    set_period(MS);
    sampler.asleep = 0;
    for (int i = 0; i < 20; i++)
        wait_for_a_sample();
    assert_int_equal(sampler.asleep, 0);
    for (int i = 0; i < 2; i++) {
        struct pollfd fd = poll_pipe();
        sampler.asleep = 0;
        pthread_create(&thread, NULL, write_a_byte_when_asleep, &sampler.asleep);
        if (i == 0)
            assert_int_equal(poll(&fd, 1, -1), 1);
        assert_int_equal(read(pipe_fds[0], &byte, 1), 1);
        pthread_join(thread, &found);
        assert_null(found);
    }
    set_period(0);
}

/* A compiler may keep anything in any register over a system call but rax, rcx and r11. */
static long sleep_with_live_registers(const struct timespec *limit, double *x15)
{
    register uint64_t r8 __asm__("r8") = 8, r9 __asm__("r9") = 9, r10 __asm__("r10") = 10;
    register uint64_t r12 __asm__("r12") = 12, r15 __asm__("r15") = 15;
    const struct timespec *request = limit;
    uint64_t second = 0, third = 3;
    long result;
    __asm__ volatile("movsd (%[x]), %%xmm15; mov $35, %%eax; syscall; movsd %%xmm15, (%[x])"
                     : "=&a"(result), "+D"(request), "+S"(second), "+d"(third), "+r"(r8), "+r"(r9), "+r"(r10),
                       "+r"(r12), "+r"(r15)
                     : [x] "b"(x15)
                     : "rcx", "r11", "xmm15", "memory");
    if (request != limit || second != 0 || third != 3 || r8 != 8 || r9 != 9 || r10 != 10 || r12 != 12 || r15 != 15)
        return 1;
    return result;
}

static long wait_with_live_registers(double *x15)
{
    struct epoll_event event;
    register uint64_t r10 __asm__("r10") = 2, r8 __asm__("r8") = 8, r9 __asm__("r9") = 9;
    uint64_t first = (uint64_t)epoll_fd, third = 1;
    struct epoll_event *second = &event;
    long result;
    __asm__ volatile("movsd (%[x]), %%xmm15; mov $232, %%eax; syscall; movsd %%xmm15, (%[x])"
                     : "=&a"(result), "+D"(first), "+S"(second), "+d"(third), "+r"(r8), "+r"(r9), "+r"(r10)
                     : [x] "b"(x15)
                     : "rcx", "r11", "xmm15", "memory");
    if (first != (uint64_t)epoll_fd || second != &event || third != 1 || r8 != 8 || r9 != 9 || r10 != 2)
        return 1;
    return result;
}

UNIT_TEST(registers_survive)
{
    struct timespec limit = in_ns(2 * MS);
    sigset_t before, after;
    double x15 = 1.25;
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    set_period(MS / 10);
    for (int i = 0; i < 200; i++) {
        assert_int_equal(sleep_with_live_registers(&limit, &x15), 0);
        assert_int_equal(wait_with_live_registers(&x15), 0);
        assert_true(x15 == 1.25);
        pthread_sigmask(SIG_SETMASK, NULL, &after);
        assert_memory_equal(&before, &after, 8);
    }
    set_period(0);
}

/* What our signal did to a wait for io_uring's completions: nothing was submitted, or the kernel had said how much. */
static enum restart_result interrupt_uring(unsigned flags, greg_t *rip)
{
    enum { BEFORE = 32 }; /* what is looked at before a call */
    static const uint8_t code[] = {
        [0 ... BEFORE - 1] = 0x90, 0xb8, 0xaa, 0x01, 0, 0, 0x0f, 0x05, 0x90}; /* mov $426, %eax; syscall */
    struct restart_state state;
    ucontext_t context = {.uc_mcontext.gregs[REG_RAX] = -EINTR,
                          .uc_mcontext.gregs[REG_R10] = flags,
                          .uc_mcontext.gregs[REG_RIP] = (greg_t)(code + BEFORE + 7)};
    restart_state_init(&state, 0);
    enum restart_result result = restart_interrupted_call(&state, &context, clock_now_ns());
    *rip = context.uc_mcontext.gregs[REG_RIP] - (greg_t)(code + BEFORE);
    return result;
}

UNIT_TEST(a_wait_for_completions_goes_on_unless_its_limit_is_in_an_unknown_structure)
{
    greg_t rip;
    assert_int_equal(interrupt_uring(IORING_ENTER_GETEVENTS, &rip), RESTART_DONE);
    assert_int_equal(rip, 5);
    assert_int_equal(interrupt_uring(IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG, &rip), RESTART_UNKNOWN);
    assert_int_equal(rip, 7);
}

/* A ring, and how many of its operations were to take so long. */
#define RING_WAIT_NS (10 * MS)
static struct ring {
    int fd;
    unsigned *tail, *array, *completed, *seen;
    struct io_uring_sqe *operation;
} ring;

static char *map_ring(size_t bytes, off_t what)
{
    return mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring.fd, what);
}

static bool open_ring(void)
{
    struct io_uring_params of = {0};
    ring.fd = (int)syscall(SYS_io_uring_setup, 1, &of);
    if (ring.fd < 0)
        return false;
    char *submissions = map_ring(of.sq_off.array + sizeof(unsigned), IORING_OFF_SQ_RING);
    char *completions = map_ring(of.cq_off.cqes + 2 * sizeof(struct io_uring_cqe), IORING_OFF_CQ_RING);
    ring.operation = (struct io_uring_sqe *)map_ring(sizeof(struct io_uring_sqe), IORING_OFF_SQES);
    ring.tail = (unsigned *)(submissions + of.sq_off.tail);
    ring.array = (unsigned *)(submissions + of.sq_off.array);
    ring.completed = (unsigned *)(completions + of.cq_off.tail);
    ring.seen = (unsigned *)(completions + of.cq_off.head);
    return true;
}

/* By a limit that it does not reach, or by none. */
static long submit_and_wait(unsigned flags)
{
    struct __kernel_timespec limit = {AMPLE_NS / (1000 * MS), 0};
    struct io_uring_getevents_arg argument = {.ts = (uint64_t)&limit}, *given = flags ? &argument : NULL;
    register uint64_t r10 __asm__("r10") = IORING_ENTER_GETEVENTS | flags;
    register struct io_uring_getevents_arg *r8 __asm__("r8") = given;
    register uint64_t r9 __asm__("r9") = flags ? sizeof argument : 0;
    uint64_t first = (uint64_t)ring.fd, submit = 1, wait = 1;
    long result;
    __asm__ volatile("mov $426, %%eax; syscall"
                     : "=&a"(result), "+D"(first), "+S"(submit), "+d"(wait), "+r"(r8), "+r"(r9), "+r"(r10)
                     :
                     : "rcx", "r11", "memory");
    if (first != (uint64_t)ring.fd || submit != 1 || wait != 1 || r8 != given || argument.ts != (uint64_t)&limit)
        return -1;
    return result;
}

UNIT_TEST(what_submits_and_waits_returns_with_its_completions)
{
    struct __kernel_timespec takes = {0, RING_WAIT_NS};
    if (!open_ring())
        skip();
    unsigned asleep = sampler.asleep;
    set_period(MS);
    for (int i = 0; i < 20 || (sampler.asleep == asleep && i < 1000); i++) {
        *ring.operation = (struct io_uring_sqe){.opcode = IORING_OP_TIMEOUT, .addr = (uint64_t)&takes, .len = 1};
        *ring.array = 0;
        __atomic_store_n(ring.tail, *ring.tail + 1, __ATOMIC_RELEASE);
        assert_int_equal(submit_and_wait(i % 2 == 0 ? 0 : IORING_ENTER_EXT_ARG), 1);
        assert_int_equal(__atomic_load_n(ring.completed, __ATOMIC_ACQUIRE) - *ring.seen, 1);
        __atomic_store_n(ring.seen, *ring.seen + 1, __ATOMIC_RELEASE);
    }
    set_period(0);
    assert_true(sampler.asleep > asleep);
    close(ring.fd);
}

/* The other end of a pipe or socket: it moves a page at a time, and naps meanwhile. */
enum { MOVED_BYTES = 512 * 1024, PIECE_BYTES = 4096 };
static unsigned char moved[MOVED_BYTES], received[MOVED_BYTES];

static void nap(void)
{
    struct timespec limit = in_ns(MS / 4);
    nanosleep(&limit, NULL);
}

static void *receive_slowly(void *fd)
{
    size_t bytes = 0;
    for (ssize_t part = 1; bytes < MOVED_BYTES && part > 0; bytes += (size_t)part) {
        nap();
        part = read((int)(intptr_t)fd, received + bytes,
                    MOVED_BYTES - bytes < PIECE_BYTES ? MOVED_BYTES - bytes : PIECE_BYTES);
    }
    return NULL;
}

static void *send_slowly(void *fd)
{
    for (size_t bytes = 0; bytes < MOVED_BYTES; bytes += PIECE_BYTES) {
        nap();
        if (write((int)(intptr_t)fd, moved + bytes, PIECE_BYTES) != PIECE_BYTES)
            break;
    }
    return NULL;
}

static ssize_t write_all(int fd)
{
    return write(fd, moved, MOVED_BYTES);
}

static ssize_t send_all(int fd)
{
    return send(fd, moved, MOVED_BYTES, 0);
}

static ssize_t receive_all(int fd)
{
    return recv(fd, received, MOVED_BYTES, MSG_WAITALL);
}

/* Samples come until one has made the call go on. */
static void check_transfer(ssize_t (*call)(int fd), void *(*other_end)(void *), bool sockets)
{
    unsigned put_back = sampler.results[RESTART_DONE];
    while (sampler.results[RESTART_DONE] == put_back) {
        int ends[2];
        pthread_t thread;
        assert_int_equal(sockets ? socketpair(AF_UNIX, SOCK_STREAM, 0, ends) : pipe(ends), 0);
        memset(received, 0, sizeof received);
        pthread_create(&thread, NULL, other_end, (void *)(intptr_t)ends[0]);
        set_period(MS);
        ssize_t bytes = call(ends[1]);
        set_period(0);
        pthread_join(thread, NULL);
        close(ends[0]);
        close(ends[1]);
        assert_int_equal(bytes, MOVED_BYTES);
        assert_memory_equal(received, moved, MOVED_BYTES);
    }
}

UNIT_TEST(what_a_sample_cuts_in_parts_moves_all)
{
    for (size_t i = 0; i < MOVED_BYTES; i++)
        moved[i] = (unsigned char)(i / PIECE_BYTES + i);
    check_transfer(write_all, receive_slowly, false);
    check_transfer(write_all, receive_slowly, true);
    check_transfer(send_all, receive_slowly, true);
    check_transfer(receive_all, send_slowly, true);
}

/* Played: a call that has moved 10 of 100 bytes. */
static enum restart_result cut_short(uint8_t call, int fd, long flags)
{
    static unsigned char code[48]; /* the decoder reads before the call */
    unsigned char load[] = {0xb8, call, 0, 0, 0, 0x0f, 0x05};
    static ucontext_t context;
    greg_t *gregs = context.uc_mcontext.gregs;
    memcpy(code + 32, load, sizeof load);
    memset(&context, 0, sizeof context);
    gregs[REG_RIP] = gregs[REG_RCX] = (greg_t)(code + 32 + sizeof load);
    gregs[REG_RAX] = 10;
    gregs[REG_RDI] = fd;
    gregs[REG_RDX] = 100;
    gregs[REG_R10] = flags;
    restart_enter(&sampler.state, &context);
    return restart_interrupted_call(&sampler.state, &context, clock_now_ns());
}

UNIT_TEST(what_moves_what_there_is_returns_it)
{
    int sockets[2], pipes[2];
    struct timeval limit = {1, 0};
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
    assert_int_equal(pipe(pipes), 0);
    assert_int_equal(cut_short(SYS_write, pipes[1], 0), RESTART_DONE);
    assert_int_equal(cut_short(SYS_read, pipes[0], 0), RESTART_NONE);
    assert_int_equal(cut_short(SYS_read, sockets[0], 0), RESTART_NONE);
    assert_int_equal(cut_short(SYS_sendto, sockets[0], 0), RESTART_DONE);
    assert_int_equal(cut_short(SYS_sendto, sockets[0], MSG_DONTWAIT), RESTART_NONE);
    assert_int_equal(cut_short(SYS_recvfrom, sockets[0], 0), RESTART_NONE);
    assert_int_equal(cut_short(SYS_recvfrom, sockets[0], MSG_WAITALL), RESTART_DONE);
    assert_int_equal(setsockopt(sockets[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit), 0);
    assert_int_equal(cut_short(SYS_recvfrom, sockets[0], MSG_WAITALL), RESTART_UNKNOWN);
    assert_int_equal(fcntl(pipes[1], F_SETFL, O_NONBLOCK), 0);
    assert_int_equal(cut_short(SYS_write, pipes[1], 0), RESTART_NONE);
    assert_int_equal(cut_short(SYS_write, -1, 0), RESTART_NONE);
    for (int i = 0; i < 2; i++) {
        close(sockets[i]);
        close(pipes[i]);
    }
}

UNIT_TEST(what_moves_one_message_or_record_returns_it)
{
    int types[] = {SOCK_DGRAM, SOCK_SEQPACKET}, sockets[2];
    for (int i = 0; i < 2; i++) {
        assert_int_equal(socketpair(AF_UNIX, types[i], 0, sockets), 0);
        assert_int_equal(cut_short(SYS_recvfrom, sockets[0], MSG_WAITALL), RESTART_NONE);
        close(sockets[0]);
        close(sockets[1]);
    }
    int zeros = open("/dev/zero", O_RDONLY), nothing = open("/dev/null", O_RDONLY);
    assert_int_equal(cut_short(SYS_read, zeros, 0), RESTART_DONE);
    assert_int_equal(cut_short(SYS_read, nothing, 0), RESTART_NONE);
    close(zeros);
    close(nothing);
}

UNIT_TEST(what_is_left_of_a_write_to_a_socket_is_sent_without_a_signal)
{
    int sockets[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
    assert_int_equal(cut_short(SYS_write, sockets[0], 0), RESTART_DONE);
    assert_int_equal(sampler.state.job.call, SYS_sendto);
    assert_int_equal(sampler.state.job.args[2], 90);
    assert_int_equal(sampler.state.job.args[3], MSG_NOSIGNAL);
    close(sockets[0]);
    close(sockets[1]);
}

UNIT_TEST(no_call_is_left_unknown)
{
    assert_true(sampler.samples > 1000);
    assert_true(sampler.results[RESTART_DONE] > 800); /* more than that only where short calls are in time */
    assert_int_equal(sampler.results[RESTART_UNKNOWN], 0);
}

UNIT_MAIN(open_objects, close_objects)
