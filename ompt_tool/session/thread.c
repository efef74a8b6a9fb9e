#include "ompt_tool/session/thread.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "base/atomics.h"
#include "base/clock.h"
#include "base/float_state.h"
#include "base/os.h"
#include "cct/arena.h"
#include "ompt_tool/session/session.h"

/* bytes of the handler's stack that an ordinary sample uses */
#define SAMPLE_STACK_BYTES (THREAD_HANDLER_STACK_BYTES < 4096u ? THREAD_HANDLER_STACK_BYTES : 4096u)

/* greatest number of ledgers; beyond it, a new thread continues the ledger of an ended one */
#define MAX_LEDGERS 65536u

__thread struct thread *thread_self __attribute__((tls_model("initial-exec")));
__thread struct state_line *thread_line __attribute__((tls_model("initial-exec"))) = &state_nobody;

__thread bool thread_has_ended __attribute__((tls_model("initial-exec")));

static struct {
    uint32_t lock; /* held while a thread takes or returns a record, which is rare and never in the handler */
    struct thread *free, *all;
    struct thread *half; /* incomplete record, because memory ran out; the next thread tries to complete it */
    uint32_t tree_count;
    uint32_t sampled; /* threads that have a record now */
    uint32_t now;     /* number of the program's threads now; state_counted_most is the greatest number so far (T) */
    uint32_t most_before; /* T before the first region made it smaller; 0: it never did */
    uint32_t ledger_count;
    uint64_t untracked; /* number of threads that have found no memory for a record */
    /* total lifetime of these threads in ns: sum of their ends minus sum of their starts, modulo 2^64 */
    uint64_t untracked_ns;
    uint32_t untracked_now;
} threads;

static __thread bool is_untracked;

/* Starts counting the calling thread's time as lost, because there is no memory for its record. */
static void thread_begin_untracked(void)
{
    fetch_add_relaxed(&threads.untracked, 1);
    fetch_add_relaxed(&threads.untracked_ns, -clock_now_ns());
    fetch_add_relaxed(&threads.untracked_now, 1);
    is_untracked = true;
}

void thread_end_untracked(void)
{
    if (!is_untracked)
        return;
    fetch_add_relaxed(&threads.untracked_ns, clock_now_ns());
    fetch_add_relaxed(&threads.untracked_now, -1u);
    is_untracked = false;
}

uint64_t thread_untracked_ns(uint64_t now_ns)
{
    return load_relaxed(&threads.untracked_ns) + load_relaxed(&threads.untracked_now) * now_ns;
}

/* Creates the missing parts of a record (thread_prepare() may have made some). Returns false if memory runs out; the parts created so far stay for
 * the next attempt. */
static bool thread_complete_record(struct thread *thread)
{
    return (thread->unwinder.cache || unwinder_init(&thread->unwinder)) &&
           tree_init(&thread->tree, threads.tree_count + 1);
}

static size_t thread_path_bytes(void)
{
    return (size_t)session.options.depth * sizeof(uint64_t);
}

static size_t thread_record_bytes(void)
{
    return THREAD_HANDLER_STACK_BYTES + sizeof(struct thread) + (LEVELS + 1) * sizeof(struct level) +
           2 * thread_path_bytes();
}

static void thread_unmap_record(struct thread *thread)
{
    os_unmap((char *)thread - THREAD_HANDLER_STACK_BYTES, thread_record_bytes());
}

/* Declares the memory as a stack to valgrind (valgrind.h: VALGRIND_STACK_REGISTER). Without this, memcheck
 * takes a switch to this stack for a huge frame and reports errors. Without valgrind, the instructions do
 * nothing. */
static void thread_tell_valgrind(const char *stack, size_t bytes)
{
#ifdef __x86_64__
    const uintptr_t request[6] = {0x1501, (uintptr_t)stack, (uintptr_t)stack + bytes - 1};
    uintptr_t result = 0;
    __asm__ volatile("rolq $3, %%rdi; rolq $13, %%rdi; rolq $61, %%rdi; rolq $51, %%rdi; xchgq %%rbx, %%rbx"
                     : "+d"(result)
                     : "a"(request)
                     : "cc", "memory");
#else
    (void)stack, (void)bytes;
#endif
}

/* Maps the memory of a record: the handler's stack, the record itself, its levels and its paths. Touches the
 * pages that every thread needs: the part of the stack that a sample uses, the record, and the first level. */
static struct thread *thread_map_record(void)
{
    char *memory = os_map(thread_record_bytes());
    if (!memory)
        return NULL;
    thread_tell_valgrind(memory, THREAD_HANDLER_STACK_BYTES);
    struct thread *thread = (struct thread *)(memory + THREAD_HANDLER_STACK_BYTES);
    os_make_present((char *)thread - SAMPLE_STACK_BYTES, SAMPLE_STACK_BYTES + sizeof(*thread) + sizeof(struct level));
    thread->level = (struct level *)(thread + 1);
    thread->last_level = thread->level + LEVELS;
    thread->path.keys = (uint64_t *)(thread->last_level + 1);
    thread->context_path.keys = thread->path.keys + session.options.depth;
    return thread;
}

/* Returns a new record, NULL if there is no memory. *fresh is a record that the caller has already mapped, or
 * NULL; it becomes NULL if it is used. */
static struct thread *thread_make_record(struct thread **fresh)
{
    struct thread *thread = threads.half ? threads.half : *fresh ? *fresh : thread_map_record();
    if (thread == *fresh)
        *fresh = NULL;
    bool whole = thread && thread_complete_record(thread);
    threads.half = whole ? NULL : thread;
    if (!whole) {
        arena_note_refusal(ENOMEM); /* only has an effect if the file has not refused memory before */
        return NULL;
    }
    threads.tree_count++;
    if (session.options.timeline)
        time_begin(&thread->tree, arena_header()->tool_start_ns);
    thread->record.next_all = threads.all;
    store_release(&threads.all, thread);
    return thread;
}

bool thread_prepare(void)
{
    if (!threads.half)
        threads.half = thread_map_record();
    return threads.half && (threads.half->unwinder.cache || unwinder_init(&threads.half->unwinder));
}

/* Makes a new thread continue the ledger of an ended thread. The ledger's duration becomes the sum of both
 * lifetimes. */
static struct profile_thread *thread_continue_ledger(struct profile_thread *ledger)
{
    uint64_t now_ns = clock_now_ns(), lived_ns = ledger->end_ns - ledger->begin_ns;
    ledger->tree = 0; /* several trees */
    store_relaxed(&ledger->last_ns, now_ns);
    store_relaxed(&ledger->begin_ns, now_ns - lived_ns);
    store_release(&ledger->end_ns, 0);
    return ledger;
}

static struct profile_thread *thread_make_ledger(enum profile_thread_kind kind, const struct thread *thread)
{
    uint32_t number;
    bool shares = threads.ledger_count >= MAX_LEDGERS && thread->ledger && thread->ledger->end_ns;
    struct profile_thread *ledger =
        shares ? thread_continue_ledger(thread->ledger) : arena_record(PROFILE_CHUNK_THREAD, &number);
    if (!ledger)
        return NULL;
    if (!shares) {
        threads.ledger_count++;
        ledger->begin_ns = clock_now_ns();
        ledger->tree = thread->tree.number;
    }
    ledger->tid = os_tid();
    store_release(&ledger->kind, (uint32_t)kind);
    return ledger;
}

static struct thread *thread_take_locked(enum profile_thread_kind kind, struct state_line *line, struct thread **fresh)
{
    struct thread *thread = threads.free;
    if (thread)
        threads.free = thread->record.next_free;
    else
        thread = thread_make_record(fresh);
    struct profile_thread *ledger = thread ? thread_make_ledger(kind, thread) : NULL;
    if (thread && !ledger) {
        thread->record.next_free = threads.free;
        threads.free = thread;
        thread = NULL;
    }
    if (!thread)
        return NULL;
    thread->ledger = ledger;
    thread->sampling.from_ns = ledger->tree ? ledger->begin_ns : ledger->last_ns;
    thread->line = line;
    thread->record.active = true;
    thread->unusual = (union unusual){.uncounted = true};
    thread->record.begun = thread->record.usual = false;
    thread->record.plain = thread->record.of_team = false;
    thread->record.workers = 0;
    threads.sampled++;
    return thread;
}

/* Returns a record for a new thread. Maps its memory before taking the lock, because all threads of a large
 * team begin at the same time. */
static struct thread *thread_take_record(enum profile_thread_kind kind, struct state_line *line)
{
    struct thread *fresh = load_relaxed(&threads.free) || load_relaxed(&threads.half) ? NULL : thread_map_record();
    os_lock(&threads.lock);
    struct thread *thread = thread_take_locked(kind, line, &fresh);
    os_unlock(&threads.lock);
    if (fresh)
        thread_unmap_record(fresh);
    return thread;
}

/* Notes T in the file, because the process may be killed. */
static void thread_note_most(void)
{
    uint32_t most;
    if (!arena_is_open())
        return;
    do { /* again, if another thread has counted meanwhile */
        most = load_relaxed(&state_counted_most);
        store_relaxed(&arena_header()->threads_max, most);
    } while (load_relaxed(&state_counted_most) != most);
}

static void thread_set_most(uint32_t most)
{
    uint32_t before = load_relaxed(&state_counted_most);
    if (before > threads.most_before)
        threads.most_before = before;
    store_relaxed(&state_counted_most, most);
    thread_note_most();
}

/* Counts more threads, or with a "negative" number fewer, without a lock: a signal handler of the program may leave the
 * caller by a jump. */
static void thread_add(uint32_t more)
{
    uint32_t now = fetch_add_relaxed(&threads.now, more) + more, most = load_relaxed(&state_counted_most);
    while ((int32_t)more > 0 && now > most)
        if (compare_exchange(&state_counted_most, &most, now))
            thread_note_most();
}

void thread_count(struct thread *thread, bool counted)
{
    os_lock(&threads.lock);
    if (!thread->record.of_team)
        thread_add((uint32_t)counted - !thread->unusual.uncounted);
    thread->unusual.uncounted = !counted;
    os_unlock(&threads.lock);
}

void thread_count_workers(struct thread *thread, int32_t more)
{
    os_lock(&threads.lock);
    thread->record.workers += (uint32_t)more;
    thread_add((uint32_t)more);
    os_unlock(&threads.lock);
}

void thread_set_others_outside(void)
{
    for (struct thread *thread = thread_all(); thread; thread = thread->record.next_all) {
        if (!thread->record.active || thread->unusual.uncounted || thread->ledger->kind != PROFILE_THREAD_OTHER)
            continue;
        thread_count(thread, false);
        state_set_outside(thread->line);
    }
    thread_set_most(load_relaxed(&threads.now));
}

void thread_stand_aside(struct thread *thread, bool aside)
{
    store_relaxed(&state_some_stood_aside, true);
    if (exchange_acq_rel(&thread->awaits.aside, aside) != aside)
        thread_add(aside ? UINT32_MAX : 1);
}

static bool thread_is_first_without_region(const struct thread *thread)
{
    return !thread->regions.begun && thread->ledger->tid == getpid();
}

void thread_set_first_outside(void)
{
    os_lock(&threads.lock);
    for (struct thread *thread = thread_all(); thread; thread = thread->record.next_all) {
        if (!thread->record.active || thread->unusual.uncounted || !thread_is_first_without_region(thread))
            continue;
        thread_stand_aside(thread, true);
        state_set_outside(thread->line);
        thread_set_most(load_relaxed(&threads.now));
    }
    os_unlock(&threads.lock);
}

void thread_leave_out_first(void)
{
    for (struct thread *thread = thread_all(); thread; thread = thread->record.next_all)
        if (thread_is_first_without_region(thread))
            thread->ledger->kind = PROFILE_THREAD_OTHER;
}

bool thread_booked_more(void)
{
    uint32_t beside = load_relaxed(&state_beside_most);
    return (beside > threads.most_before ? beside : threads.most_before) > thread_most();
}

/* Clears what the record's last owner has left there. */
static void thread_clear_record(struct thread *thread)
{
    thread->inside.tool = thread->inside.handler = 0;
    thread->inside.guarded = false;
    thread->stands_by.added = 0;
    thread->awaits.entry = 0;
    thread->awaits.key = 0;
    thread->awaits.aside = false;
    thread->pthread.start = 0;
    thread->pthread.node_idx = 0;
    thread->idle.pending = thread->dispatch.is_carried = false;
    thread->dispatch.ranks = (struct profile_ranks){0};
    /* The record's last owner has numbered its lock waits up to this value. The next wait must get a new
     * number. */
    thread->line->acquisitions = ++thread->pace.acquisitions;
    thread->pace.since_ns = clock_now_ns();
    thread->unnamed_critical = 0;
    thread->mpi = (struct mpi_wait){0};
    thread->core = (struct core){.now.state = CORE_HAD};
    thread->neighbours = (struct neighbours){0};
    thread->construct.share = 0;
    thread->construct.team = 0;
}

struct thread *thread_take(enum profile_thread_kind kind)
{
    if (!arena_is_open() || load_seq_cst(&session.stopping))
        return NULL; /* After the measurement's end, no time is lost. */
    struct state_line *line = state_line_acquire();
    struct thread *thread = line ? thread_take_record(kind, line) : NULL;
    if (!thread) {
        if (line)
            state_line_release(line);
        thread_begin_untracked();
        return NULL;
    }
    thread_clear_record(thread);
    return thread;
}

void thread_note_run_times(struct thread *thread)
{
    uint64_t on_core_ns, no_core_ns;
    struct run_counts counts;
    if (thread == thread_self && run_counts_read(&thread->core.file, &counts)) { /* it need not be opened */
        on_core_ns = counts.on_core_ns;
        no_core_ns = counts.no_core_ns;
    } else {
        os_run_times(thread->ledger->tid, &on_core_ns, &no_core_ns);
    }
    thread->ledger->only_core = os_only_core(thread->ledger->tid);
    if (!on_core_ns)
        return; /* The kernel does not offer these counts. */
    thread->ledger->on_core_ns += (double)on_core_ns - (double)thread->core.counts.begun.on_core_ns;
    thread->ledger->no_core_ns += (double)no_core_ns - (double)thread->core.counts.begun.no_core_ns;
    /* The thread may have got its core just now, while its due samples were dropped. */
    uint64_t sampled_ns = thread->core.counts.last.no_core_ns;
    if (thread->ledger->dropped[PROFILE_DROP_STOPPING] && thread->ledger->core_source == PROFILE_CORE_SCHEDSTAT &&
        no_core_ns > sampled_ns)
        thread->ledger->no_core_dropped_ns += (double)(no_core_ns - sampled_ns);
}

void thread_give_back(struct thread *thread)
{
    thread_self = NULL;
    thread_line = &state_nobody;
    thread_has_ended = true;
    signal_fence();
    state_line_release(thread->line);
    os_lock(&threads.lock);
    bool counted = !thread->record.of_team && !thread->unusual.uncounted;
    thread_add(thread->awaits.aside - thread->record.workers - counted);
    threads.sampled--;
    thread->record.active = false;
    /* A record with contexts below placeholders is not reused. They wait until the end for the contexts of
     * their regions. */
    if (thread->placeholders.count == 0) {
        thread->record.next_free = threads.free;
        threads.free = thread;
    }
    os_unlock(&threads.lock);
}

struct thread *thread_all(void)
{
    return load_acquire(&threads.all);
}

uint32_t thread_sampled(void)
{
    return load_relaxed(&threads.sampled);
}

uint32_t thread_most(void)
{
    return load_relaxed(&state_counted_most);
}

uint64_t thread_untracked(void)
{
    return load_relaxed(&threads.untracked);
}

void thread_reset(void)
{
    memset(&threads, 0, sizeof(threads));
    thread_self = NULL;
    thread_line = &state_nobody;
    is_untracked = false;
}

static inline bool thread_begin_floats(struct thread *thread)
{
    if (thread->inside.tool == 1)
        thread->inside.floats = float_begin();
    return true;
}

bool thread_enter_tool(struct thread *thread)
{
    if (!thread->inside.tool)
        thread->inside.errno_before = errno; /* The program may read errno after it has called the runtime. */
    store_seq_cst(&thread->inside.tool, thread->inside.tool + 1);
    signal_fence();
    if (likely(!load_seq_cst(&session.stopping)))
        return thread_begin_floats(thread);
    /* As in thread_leave_tool(): finish_measuring() may see this store alone. */
    store_release(&thread->inside.tool, thread->inside.tool - 1);
    return false;
}

void thread_leave_tool(struct thread *thread)
{
    if (thread->inside.tool == 1) {
        errno = thread->inside.errno_before;
        float_end(thread->inside.floats);
    }
    signal_fence();
    store_release(&thread->inside.tool, thread->inside.tool - 1);
}
