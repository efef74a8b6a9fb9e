/* The program's own signals interrupt its calls while it is sampled, and its handlers may jump out of them.
 */
#include "restart_calls.h"

#include <sys/prctl.h>

#if defined(__SANITIZE_ADDRESS__)
#define CANCELLATION_WORKS 0 /* AddressSanitizer fails on it by itself, without a sampler */
#else
#define CANCELLATION_WORKS 1
#endif

static atomic_int handled, round_ready;
static sigjmp_buf out_of_handler;
static atomic_bool jump_out;

static void on_program_signal(int signal_number)
{
    (void)signal_number;
    atomic_fetch_add(&handled, 1);
    if (atomic_exchange(&jump_out, false))
        siglongjmp(out_of_handler, 1);
}

struct sender {
    pthread_t target;
    pid_t target_tid;
    long call; /* which the target is in; 0: any */
    int rounds, resent;
    uint64_t blocked_ns,
        sent_ns; /* of the round: when the target was in its call, at the latest, and when it was signalled */
};

/* The system call in which the thread sleeps; -1: in none. A page that it waits for is none, and neither is what it runs. */
static long sleeps_in(pid_t tid)
{
    char path[64], text[16] = "", *end;
    snprintf(path, sizeof path, "/proc/self/task/%d/syscall", tid);
    FILE *file = fopen(path, "r");
    if (file != NULL && fgets(text, sizeof text, file) == NULL)
        text[0] = '\0';
    if (file != NULL)
        fclose(file);
    long call = strtol(text, &end, 10);
    return end == text ? -1 : call;
}

/* A sample sleeps in calls of its own: `call` (0: any) is the one that is meant, also when it is begun again. */
static bool is_blocked(pid_t tid, long call)
{
    long in = sleeps_in(tid);
    return in >= 0 && (call == 0 || in == call || in == SYS_restart_syscall);
}

/* The signal has been handled, and the target stays in its call: it is lost. */
static void send_until_it_interrupts(struct sender *sender, int round)
{
    int before = atomic_load(&handled), seen = 0;
    pthread_kill(sender->target, PROGRAM_SIGNAL);
    while (atomic_load(&round_ready) == round && round < sender->rounds) {
        struct timespec patience = in_ns(MS / 10);
        nanosleep(&patience, NULL);
        if (atomic_load(&handled) == before || !is_blocked(sender->target_tid, sender->call) || ++seen < 500)
            continue;
        seen = 0;
        before = atomic_load(&handled);
        sender->resent++;
        pthread_kill(sender->target, PROGRAM_SIGNAL);
    }
}

/* Once a round: waits until the target sleeps in its call, then for a random time, then signals it; again if it
 * was lost. */
static void *send_signals(void *argument)
{
    struct sender *sender = argument;
    unsigned seed = 1;
    for (int round = 1; round <= sender->rounds; round++) {
        while (atomic_load(&round_ready) < round || !is_blocked(sender->target_tid, sender->call))
            sched_yield();
        sender->blocked_ns = clock_now_ns();
        struct timespec wait = in_ns(rand_r(&seed) % 1500000);
        nanosleep(&wait, NULL);
        sender->sent_ns = clock_now_ns();
        send_until_it_interrupts(sender, round);
    }
    return NULL;
}

static pthread_t start_sender(struct sender *sender, long call, int rounds)
{
    pthread_t thread;
    sigset_t all, before;
    *sender = (struct sender){
        .target = pthread_self(), .target_tid = (pid_t)syscall(SYS_gettid), .call = call, .rounds = rounds};
    atomic_store(&round_ready, 0);
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    assert_int_equal(pthread_create(&thread, NULL, send_signals, sender), 0);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return thread;
}

/* What nanosleep says is left: from the signal, which came between two times, to the end of its limit, which had begun between
 * two, and of the kernel's slack. Returns whether it is more: when the signal comes in a sample, the kernel has said what is left
 * as that began. */
static bool says_of_sample(const struct sender *sender, uint64_t begin_ns, uint64_t end_ns)
{
    long left_ns = remainder_left.tv_sec * 1000 * MS + remainder_left.tv_nsec;
    long least_ns = AMPLE_NS - (long)(end_ns - begin_ns);
    long most_ns = AMPLE_NS - (long)(sender->sent_ns - sender->blocked_ns) + prctl(PR_GET_TIMERSLACK);
    if (left_ns < least_ns || left_ns > AMPLE_NS + prctl(PR_GET_TIMERSLACK))
        fail_msg("nanosleep reports %ld ns left, it is %ld to %ld", left_ns, least_ns, most_ns);
    return left_ns > most_ns;
}

/* Returns how many of the signals failed to interrupt the call. */
static int interrupt_call(const struct call *call, int rounds)
{
    struct sender sender;
    int lost = 0, of_samples = 0;
    bool is_timed = call->make == call_nanosleep_rem;
    pthread_t thread =
        start_sender(&sender, is_timed ? SYS_clock_nanosleep : 0, rounds + 1); /* the last is to end by */
    set_period(MS);
    for (int i = 0; i < rounds; i++) {
        uint64_t begin_ns = clock_now_ns();
        atomic_fetch_add(&round_ready, 1);
        int result = call->make(AMPLE_NS);
        uint64_t end_ns = clock_now_ns();
        if (result != EINTR)
            lost++;
        else if (is_timed)
            of_samples += says_of_sample(&sender, begin_ns, end_ns);
    }
    set_period(0);
    atomic_fetch_add(&round_ready, 1);
    while (pthread_tryjoin_np(thread, NULL) != 0)
        usleep(100);
    if (of_samples >
        rounds / 4) /* two thirds have had a sample: a way that keeps what its interruption said shows in all these */
        fail_msg("nanosleep reports %d of %d times what was left before", of_samples, rounds);
    return lost + sender.resent;
}

/* A signal that returns just as a sample comes may be lost (docs/architecture.md, "Restarted system calls", 2), beside load more often. A broken way loses
 * all of them: a quarter is far from both. */
UNIT_TEST(program_signals_interrupt)
{
    const int rounds = 250;
    for (int i = 0; i < call_count; i++) {
        if (CALLS[i].traits & UNANSWERED)
            continue;
        int lost = interrupt_call(&CALLS[i], rounds);
        printf("%-24s %d of %d signals lost\n", CALLS[i].name, lost, rounds);
        if (lost > (CALLS[i].traits & SURE ? 0 : rounds / 4))
            fail_msg("%s: %d signals of the program's did not interrupt", CALLS[i].name, lost);
    }
}

/* Whether the handler's jump ended the call. */
static bool is_jumped_out_of(const struct call *call)
{
    if (sigsetjmp(out_of_handler, 1) != 0)
        return true;
    atomic_store(&jump_out, true);
    atomic_fetch_add(&round_ready, 1);
    call->make(AMPLE_NS);
    atomic_store(&jump_out, false);
    return false;
}

UNIT_TEST(handlers_may_jump_out)
{
    const int rounds = 20;
    for (int i = 0; i < call_count; i++) {
        struct sender sender;
        int jumped = 0;
        pthread_t thread = start_sender(&sender, 0, rounds + 1);
        set_period(MS / 2);
        for (int round = 0; round < rounds; round++)
            jumped += is_jumped_out_of(&CALLS[i]);
        set_period(0);
        atomic_fetch_add(&round_ready, 1);
        while (pthread_tryjoin_np(thread, NULL) != 0)
            usleep(100);
        assert_true(jumped >= rounds - 1);
        assert_int_equal(call_usleep(3 * MS), 0);
    }
}

static atomic_int cleaned_up, cancel_ready;

static void clean_up(void *unused)
{
    (void)unused;
    atomic_fetch_add(&cleaned_up, 1);
}

static void *sampled_thread(void *call)
{
    sampler_open();
    set_period(MS / 2);
    pthread_cleanup_push(clean_up, NULL);
    atomic_store(&cancel_ready, 1);
    ((const struct call *)call)->make(AMPLE_NS);
    pthread_cleanup_pop(0);
    return NULL;
}

static atomic_int in_sample, may_end;

/* Each in its call, so long after it is ready. */
static void cancel_sampled_threads(atomic_int *ready, useconds_t later_us)
{
    for (int i = 0; i < call_count && CANCELLATION_WORKS; i++) {
        pthread_t thread;
        void *result;
        if (CALLS[i].traits & UNCANCELLABLE)
            continue;
        atomic_store(ready, 0);
        atomic_store(&may_end, 0);
        atomic_store(&cleaned_up, 0);
        pthread_create(&thread, NULL, sampled_thread, (void *)&CALLS[i]);
        while (atomic_load(ready) == 0)
            usleep(100);
        usleep(later_us);
        pthread_cancel(thread);
        atomic_store(&may_end, 1);
        pthread_join(thread, &result);
        if (result != PTHREAD_CANCELED || atomic_load(&cleaned_up) != 1)
            fail_msg("%s was not cancelled", CALLS[i].name);
    }
}

/* Cancellation arrives as a signal and unwinds from the call: also through our stub. */
UNIT_TEST(sampled_threads_can_be_cancelled)
{
    cancel_sampled_threads(&cancel_ready, 5000);
}

static void stay_in_sample(void)
{
    atomic_store(&in_sample, 1);
    while (atomic_load(&may_end) == 0)
        ;
}

UNIT_TEST(a_cancellation_waits_for_the_end_of_a_sample)
{
    on_call_put_back = stay_in_sample;
    cancel_sampled_threads(&in_sample, 0);
    on_call_put_back = NULL;
}

static int open_with_handler(void **unused)
{
    struct sigaction action = {.sa_handler = on_program_signal, .sa_flags = SA_RESTART};
    sigaction(PROGRAM_SIGNAL, &action, NULL);
    return open_objects(unused);
}

UNIT_MAIN(open_with_handler, close_objects)
