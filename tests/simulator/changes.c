#include "tests/simulator/changes.h"

#include <stdlib.h>
#include <string.h>

#include "tests/simulator/machine.h"

static struct {
    struct change *changes;
    size_t count, room;
    struct noted_thread {
        size_t last, idle; /* its last change, and the begin of its wait, + 1; 0: none */
    } *threads;
    uint32_t thread_room;
    uint32_t holder[MAX_LOCKS]; /* thread + 1; 0: nobody */
    int counted, counted_most;
} noted;

static struct change *note(struct change change)
{
    if (noted.count == noted.room)
        noted.changes = realloc(noted.changes, (noted.room = noted.room ? 2 * noted.room : 4096) * sizeof(change));
    change.time_ns = machine.now_ns;
    noted.changes[noted.count] = change;
    return &noted.changes[noted.count++];
}

/* With a bias, who held the lock is not always known. */
uint32_t oracle_handoff(uint32_t context)
{
    return machine.scenario->bias > 0 ? context : context_child(context, CONTEXT_HANDOFF);
}

uint32_t changes_handoff_of(uint32_t context, uint32_t lock)
{
    return context_child(oracle_handoff(context), CONTEXT_LOCK(lock));
}

uint32_t changes_no_core_of(uint32_t context, uint32_t lock)
{
    return context_child(oracle_no_core(context), CONTEXT_LOCK(lock));
}

uint32_t oracle_no_core(uint32_t context)
{
    bool told_apart = !machine.scenario->bias && !machine.scenario->one_idleness;
    return told_apart ? context_child(context, CONTEXT_NO_CORE) : context;
}

/* The contexts of waiting that a thread causes there. */
static void make_held(uint32_t thread, uint32_t context)
{
    for (uint32_t lock = 0; lock < MAX_LOCKS; lock++)
        if (noted.holder[lock] == thread + 1) {
            context_child(context, CONTEXT_LOCK(lock));
            changes_no_core_of(context, lock);
        }
}

static struct noted_thread *noted_thread(uint32_t thread)
{
    if (thread >= noted.thread_room) {
        uint32_t room = 2 * thread + 16;
        noted.threads = realloc(noted.threads, room * sizeof(*noted.threads));
        memset(noted.threads + noted.thread_room, 0, (room - noted.thread_room) * sizeof(*noted.threads));
        noted.thread_room = room;
    }
    return &noted.threads[thread];
}

void oracle_core(uint32_t thread, bool no_core, bool ready, bool stolen)
{
    if (!machine.scenario->laws_only)
        note((struct change){
            .thread = thread, .about_core = true, .no_core = no_core, .held = ready, .stolen = no_core && stolen});
}

void oracle_stopped(uint32_t thread, bool stopped)
{
    context_child(0, CONTEXT_STOPPED);
    if (!machine.scenario->laws_only)
        note((struct change){.thread = thread, .about_stop = true, .held = stopped});
}

void oracle_state(uint32_t thread, enum exact_state state, uint32_t context, uint64_t place, uint32_t lock)
{
    if (machine.scenario->laws_only)
        return;
    struct noted_thread *of = noted_thread(thread);
    struct change *last = of->last ? &noted.changes[of->last - 1] : NULL;
    struct change *idle = of->idle ? &noted.changes[of->idle - 1] : NULL; /* where the wait begins that goes on */
    bool begins_idle = state == EXACT_IDLE && (!last || last->state < EXACT_PARKED || last->state > EXACT_IDLE);
    if (idle && state != EXACT_PARKED) /* if the region has ended meanwhile, it is told where the next one begins */
        idle->dispatch = last->state == EXACT_PARKED ? context_parent(context) : idle->context;
    if (state != EXACT_PARKED)
        of->idle = 0;
    if (state > EXACT_IDLE)
        make_held(thread, context);
    if (state >= EXACT_IDLE)
        oracle_no_core(state == EXACT_IDLE ? 0 : context);
    if (state == EXACT_LOCKWAIT) {
        changes_handoff_of(context, lock);
        changes_no_core_of(context, lock);
        context = context_child(context, CONTEXT_LOCK(lock));
    }
    note((struct change){.thread = thread,
                         .state = state,
                         .context = context,
                         .place = place,
                         .lock = lock,
                         .begins_idle = begins_idle});
    of->last = noted.count;
    if (begins_idle)
        of->idle = of->last;
}

void oracle_lock(uint32_t lock, bool held, uint32_t context, uint32_t holder)
{
    if (machine.scenario->laws_only)
        return;
    noted.holder[lock] = held && holder != NO_THREAD ? holder + 1 : 0;
    if (noted.holder[lock])
        make_held(holder, context);
    note((struct change){.thread = NO_THREAD,
                         .lock = lock,
                         .held = held,
                         .peer = holder,
                         .context = held ? context_child(context, CONTEXT_LOCK(lock)) : 0});
}

void oracle_turn(uint32_t lock, uint32_t thread, bool inside)
{
    if (!machine.scenario->laws_only)
        note((struct change){.thread = NO_THREAD, .lock = lock, .held = inside, .peer = thread, .about_turn = true});
}

void oracle_rank(uint32_t number, bool waits, uint32_t peer)
{
    context_child(0, CONTEXT_NOBODY);
    if (!machine.scenario->laws_only)
        note((struct change){.about_rank = true, .lock = number, .held = waits, .peer = peer});
}

void oracle_count(int threads)
{
    noted.counted += threads;
    if (noted.counted > noted.counted_most)
        noted.counted_most = noted.counted;
}

uint32_t oracle_threads_most(void)
{
    return (uint32_t)noted.counted_most;
}

void changes_look_ahead(void)
{
    uint32_t owner[MAX_LOCKS], turn[MAX_LOCKS] = {0};
    memset(owner, 0xff, sizeof(owner)); /* NO_THREAD */
    for (size_t i = noted.count; i-- > 0;) {
        struct change *change = &noted.changes[i];
        if (change->thread != NO_THREAD)
            continue;
        change->next_owner = owner[change->lock];
        change->next_turn = turn[change->lock];
        if (change->held)
            owner[change->lock] = change->peer;
        if (change->held && change->about_turn)
            turn[change->lock] = 1 + change->peer;
    }
}

size_t changes_count(void)
{
    return noted.count;
}

const struct change *changes_at(size_t number)
{
    return &noted.changes[number];
}
