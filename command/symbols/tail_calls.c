#include "command/symbols/tail_calls.h"

#include <stdio.h>
#include <string.h>

#include "cct/profile_tree.h"

#define MAX_CHAIN 8    /* maximum number of missing functions between two frames */
#define MAX_FOUND 8    /* maximum number of different chains that are kept */
#define MAX_VISIT 4096 /* maximum number of functions examined for one pair of frames */
/* As the goal: any function of the runtime that takes or releases a lock. No key has this value. */
#define A_LOCK_CALL 1
#define GCC_TASK    "GOMP_task" /* the libgomp functions that create tasks have names that start with this */

struct chain {
    uint64_t function[MAX_CHAIN]; /* entries of the functions in the chain, outermost first */
    size_t count;
};

/* The result of a search: first the functions with which all chains start, then those that differ between the
 * chains, then the functions with which all chains end. */
struct gap {
    struct tail_frame frames[MAX_CHAIN + 1];
    size_t count;
    char candidates[512];
};

struct search {
    struct symbols *symbols;
    struct gap *gap;
    uint64_t goal; /* entry of the next function on the stack, at which all chains must end; or A_LOCK_CALL */
    /* whether a task of the region may have jumped to the goal; false if the goal is itself the body of a
     * construct */
    bool may_be_in_task;
    bool nameless; /* whether no symbol covers the goal, so that jumps to it are not known */
    struct chain path;
    struct chain found[MAX_FOUND];
    size_t found_count;
    unsigned visits;
    bool open; /* whether there may be chains that the search has not found */
};

static const struct symbol_frame *symbols_tail_outer_frame(struct symbols *symbols, uint64_t key)
{
    const struct symbol_frame *frames;
    size_t count = symbols_lookup(symbols, key, &frames);
    return &frames[count - 1];
}

/* ---- the search ---- */

/* Returns whether a function is one of the runtime or of POSIX threads that takes or releases a lock. */
static bool symbols_takes_locks(const char *name)
{
    static const char *const runtimes[] = {"__kmpc_", "omp_", "GOMP_", "pthread_", "mtx_"};
    static const char *const words[] = {"critical", "lock", "ordered", "atomic", "reduce"};
    bool is_runtime = false, is_lock = false;
    for (size_t i = 0; i < sizeof runtimes / sizeof *runtimes; i++)
        is_runtime = is_runtime || strncmp(name, runtimes[i], strlen(runtimes[i])) == 0;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        is_lock = is_lock || strstr(name, words[i]) != NULL;
    return is_runtime && is_lock;
}

/* Returns the entry of the function to which a call leads, or 0 if it is in another module than the goal.
 * Only the goal's module is searched for a name, because every chain must enter it. */
static uint64_t symbols_tail_call_destination(struct search *search, const struct symbol_call *call)
{
    if (call->target)
        return symbols_function_entry(search->symbols, call->target);
    if (search->goal == A_LOCK_CALL)
        return symbols_takes_locks(call->name) ? search->goal : 0;
    return *call->name ? symbols_function_named(search->symbols, PROFILE_KEY_MODULE(search->goal), call->name) : 0;
}

static void symbols_tail_add_found_chain(struct search *search)
{
    for (size_t i = 0; i < search->found_count; i++) {
        const struct chain *found = &search->found[i];
        if (found->count == search->path.count &&
            memcmp(found->function, search->path.function, found->count * sizeof *found->function) == 0)
            return;
    }
    if (search->found_count == MAX_FOUND)
        search->open = true;
    else
        search->found[search->found_count++] = search->path;
}

static void symbols_tail_visit_function(struct search *search, uint64_t function);

/* Returns whether a body may be that of a task. If its name does not show this, the code around `call` shows
 * how the body is passed to the runtime. */
static bool symbols_tail_may_be_task(struct symbols *symbols, const struct symbol_call *call, uint64_t body)
{
    const struct symbol_call *list;
    const struct symbol_frame *frame = symbols_tail_outer_frame(symbols, body);
    if (frame->construct == SYMBOL_TASK)
        return true;
    size_t count = symbols_calls(symbols, symbols_function_entry(symbols, call->key), &list);
    for (size_t i = 0; i < count; i++)
        if (list[i].body == body)
            return strncmp(list[i].name, GCC_TASK, strlen(GCC_TASK)) == 0;
    return frame->construct_uncertain;
}

/* Visits the code that the threads of a region may run without leaving a frame on the stack: the body of the
 * region, and tasks. */
static void symbols_tail_visit_construct(struct search *search, const struct symbol_call *call)
{
    struct symbols *symbols = search->symbols;
    const struct symbol_call *jumps;
    const uint64_t *bodies;
    if (call->body == search->goal)
        symbols_tail_add_found_chain(search);
    else if (call->body)
        symbols_tail_visit_function(search, call->body);
    else
        search->open = true;
    size_t count = search->may_be_in_task ? symbols_bodies(symbols, PROFILE_KEY_MODULE(call->key), &bodies) : 0;
    for (size_t i = 0; i < count && !search->open; i++) {
        if (bodies[i] == call->body || symbols_calls(symbols, bodies[i], &jumps) == 0)
            continue;
        struct search task = *search;
        symbols_tail_visit_function(&task, bodies[i]);
        search->visits = task.visits;
        if (task.found_count > search->found_count && symbols_tail_may_be_task(symbols, call, bodies[i]))
            *search = task;
    }
}

static void symbols_tail_visit_call(struct search *search, const struct symbol_call *call)
{
    if (!call->target && !*call->name) {
        search->open = true;
        return;
    }
    uint64_t to = symbols_tail_call_destination(search, call);
    if (to == search->goal)
        symbols_tail_add_found_chain(search);
    else if (call->launches && search->goal != A_LOCK_CALL)
        symbols_tail_visit_construct(search, call);
    else if (to)
        symbols_tail_visit_function(search, to);
}

static void symbols_tail_visit_function(struct search *search, uint64_t function)
{
    const struct symbol_call *list;
    struct chain *path = &search->path;
    for (size_t i = 0; i < path->count; i++)
        if (path->function[i] == function)
            return;
    if (path->count == MAX_CHAIN || ++search->visits > MAX_VISIT) {
        search->open = true;
        return;
    }
    path->function[path->count++] = function;
    size_t count = symbols_calls(search->symbols, function, &list);
    for (size_t i = 0; i < count; i++)
        if (list[i].tail)
            symbols_tail_visit_call(search, &list[i]);
    path->count--;
}

static bool symbols_has_tail_call(struct symbols *symbols, uint64_t function)
{
    const struct symbol_call *list;
    size_t count = symbols_calls(symbols, function, &list);
    for (size_t i = 0; i < count; i++)
        if (list[i].tail)
            return true;
    return false;
}

/* Finds the chains that lead from a call to the goal. Returns true if the called function was certainly
 * entered. */
static bool symbols_tail_find_chains(struct search *search, const struct symbol_call *call)
{
    uint64_t to = symbols_tail_call_destination(search, call);
    if (to == search->goal || (!call->target && !*call->name))
        return false;
    const struct symbol_frame *goal = symbols_tail_outer_frame(search->symbols, search->goal);
    /* A call that creates a task can lead only to that task (BLAME_TASKS=creation). */
    search->may_be_in_task =
        goal->construct == SYMBOL_PROCEDURE && strncmp(call->name, GCC_TASK, strlen(GCC_TASK)) != 0;
    if (call->launches) {
        /* The next frame on the stack is that of the region's body, of a task, or of a function to which one
         * of these jumped. */
        if (call->body && call->body != search->goal && goal->construct != SYMBOL_TASK)
            symbols_tail_visit_construct(search, call);
        return false;
    }
    if (to)
        symbols_tail_visit_function(search, to);
    if (search->nameless) /* a function with a symbol was called, and is not on the stack */
        return to && symbols_function_entry(search->symbols, to) == to;
    return call->target && to && symbols_has_tail_call(search->symbols, to);
}

/* Finds the chains that lead from a call to a function of the runtime that takes or releases a lock. Returns
 * true if the called function was certainly entered. */
static bool symbols_tail_find_lock_calls(struct search *search, const struct symbol_call *call)
{
    uint64_t to = call->target ? symbols_tail_call_destination(search, call) : 0;
    if (!to || call->launches)
        return false;
    symbols_tail_visit_function(search, to);
    return search->open && symbols_has_tail_call(search->symbols, to);
}

/* ---- from chains to frames ---- */

static void symbols_tail_add_frame(struct search *search, struct tail_frame frame)
{
    search->gap->frames[search->gap->count++] = frame;
}

/* Adds the frame of a function in a chain. `next` is the function to which it jumps, or 0 if this is unknown. */
static void symbols_tail_add_chain_function(struct search *search, uint64_t function, uint64_t next)
{
    const struct symbol_call *list;
    size_t count = next ? symbols_calls(search->symbols, function, &list) : 0, sites = 0;
    uint64_t site = 0;
    for (size_t i = 0; i < count; i++)
        if (list[i].tail && (symbols_tail_call_destination(search, &list[i]) == next || list[i].launches)) {
            site = list[i].key;
            sites++;
        }
    symbols_tail_add_frame(search, (struct tail_frame){.key = sites == 1 ? site : function, .at_jump = sites == 1});
}

static void symbols_tail_add_ambiguous_frame(struct search *search, size_t prefix)
{
    char *text = search->gap->candidates;
    size_t length = 0, room = sizeof search->gap->candidates;
    for (size_t i = 0; i < search->found_count && length < room; i++) {
        const struct chain *chain = &search->found[i];
        const char *name = chain->count > prefix
                               ? symbols_tail_outer_frame(search->symbols, chain->function[prefix])->name
                               : "nothing";
        bool known = false;
        for (size_t j = 0; j < i; j++)
            known |= search->found[j].count > prefix && chain->count > prefix &&
                     search->found[j].function[prefix] == chain->function[prefix];
        if (!known)
            length += (size_t)snprintf(text + length, room - length, "%s%s", length ? " or " : "", name);
    }
    if (search->open && length < room)
        snprintf(text + length, room - length, " or others");
    symbols_tail_add_frame(search, (struct tail_frame){.candidates = text});
}

/* Adds the frames that are certain: those with which all chains start, and those with which all chains end. */
static void symbols_tail_add_chains(struct search *search)
{
    const struct chain *one = &search->found[0];
    size_t prefix = one->count, suffix = one->count, least = one->count;
    for (size_t i = 1; i < search->found_count; i++) {
        const struct chain *other = &search->found[i];
        size_t same = 0;
        least = other->count < least ? other->count : least;
        while (same < prefix && same < other->count && one->function[same] == other->function[same])
            same++;
        prefix = same;
        for (same = 0; same < suffix && same < other->count &&
                       one->function[one->count - 1 - same] == other->function[other->count - 1 - same];)
            same++;
        suffix = same;
    }
    if (search->found_count == 1)
        suffix = 0;
    else if (prefix + suffix > least)
        suffix = least - prefix;
    for (size_t i = 0; i < prefix; i++) {
        bool last = i + 1 == prefix;
        uint64_t after_last = search->found_count == 1 ? search->goal : 0;
        symbols_tail_add_chain_function(search, one->function[i], last ? after_last : one->function[i + 1]);
    }
    if (search->found_count > 1)
        symbols_tail_add_ambiguous_frame(search, prefix);
    for (size_t i = one->count - suffix; i < one->count; i++)
        symbols_tail_add_chain_function(search, one->function[i],
                                        i + 1 < one->count ? one->function[i + 1] : search->goal);
}

static void symbols_tail_add_frames(struct search *search, const struct symbol_call *call)
{
    bool entered = search->goal == A_LOCK_CALL ? symbols_tail_find_lock_calls(search, call)
                                               : symbols_tail_find_chains(search, call);
    if (!search->open && search->found_count) {
        symbols_tail_add_chains(search);
        return;
    }
    if (!entered)
        return;
    /* If a jump has an unknown target, or a chain is too long, only the first function of the chain is
     * certain. */
    symbols_tail_add_chain_function(search, symbols_tail_call_destination(search, call), 0);
    for (size_t i = 0; i < search->found_count; i++)
        if (search->found[i].count > 1) {
            symbols_tail_add_ambiguous_frame(search, 1);
            break;
        }
}

static size_t symbols_tail_calls(struct symbols *symbols, uint64_t caller, uint64_t goal, bool nameless,
                                 const struct tail_frame **frames)
{
    size_t count = 0;
    *frames = NULL;
    const struct symbol_call *call = goal ? symbols_call_at(symbols, caller) : NULL;
    if (!call || symbols_gap(symbols, caller, goal, frames, &count))
        return count;
    struct gap gap = {.count = 0};
    struct search search = {.symbols = symbols, .gap = &gap, .goal = goal, .nameless = nameless};
    symbols_tail_add_frames(&search, call);
    *frames = symbols_gap_found(symbols, caller, goal, gap.frames, gap.count);
    return *frames ? gap.count : 0;
}

size_t tail_calls_between(struct symbols *symbols, uint64_t caller, uint64_t callee, const struct tail_frame **frames)
{
    return symbols_tail_calls(symbols, caller, symbols_function_entry(symbols, callee), false, frames);
}

size_t tail_calls_into_runtime(struct symbols *symbols, uint64_t caller, uint64_t callee,
                               const struct tail_frame **frames)
{
    uint64_t entry = symbols_function_entry(symbols, callee);
    return symbols_tail_calls(symbols, caller, entry ? entry : callee, !entry, frames);
}

size_t tail_calls_to_lock(struct symbols *symbols, uint64_t caller, const struct tail_frame **frames)
{
    const struct symbol_call *call = symbols_call_at(symbols, caller);
    *frames = NULL;
    return call && call->target ? symbols_tail_calls(symbols, caller, A_LOCK_CALL, false, frames) : 0;
}
