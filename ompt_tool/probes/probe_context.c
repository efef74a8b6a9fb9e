#include "ompt_tool/probes/probe_context.h"

#include <omp-tools.h>
#include <stdio.h>
#include <string.h>

#include "base/atomics.h"
#include "base/hash.h"
#include "cct/arena.h"
#include "ompt_tool/context/capture.h"
#include "ompt_tool/context/creation_memo.h"
#include "ompt_tool/context/runtime.h"
#include "ompt_tool/context/task_word.h"
#include "ompt_tool/probes/probe_names.h"
#include "ompt_tool/session/session.h"
#include "ompt_tool/session/thread.h"

#define SEPARATOR      " = " /* text between the name and the value of a parameter */
#define PARAMETER_NAME 480u  /* maximum number of bytes of a parameter's name that are compared */

static enum profile_node_kind probe_node_kind(enum blame_kind kind)
{
    return kind == BLAME_ITERATION ? PROFILE_NODE_PHASE : (enum profile_node_kind)kind;
}

/* Returns the number that distinguishes begin calls with the same text in the cache of names: a parameter's
 * value, 0 for other kinds. */
static inline uint64_t probe_text_number(const struct probe_begin *begin)
{
    return begin->kind == BLAME_PARAMETER ? begin->number : 0;
}

static inline uint32_t probe_text_place(const struct probe_begin *begin)
{
    uint64_t text = (uintptr_t)begin->text ^ (uint64_t)begin->kind << 56 ^ probe_text_number(begin) << 20;
    return (uint32_t)(hash_number(text) >> 40) % PROBE_TEXTS;
}

/* Returns true if the record has the parameter's name, with any value. */
static bool probe_name_is_of_parameter(const struct profile_name *record, const struct probe_begin *call)
{
    /* a record whose text is truncated contains at least this much of the name */
    const size_t cut_bytes = 200;
    bool cut = record->flags & PROFILE_NAME_CUT;
    size_t bytes = cut && call->bytes > cut_bytes ? cut_bytes : call->bytes;
    return record->kind == PROFILE_NODE_PARAMETER && bytes < sizeof(record->text) &&
           memcmp(record->text, call->text, bytes) == 0 &&
           (cut || strncmp(record->text + bytes, SEPARATOR, strlen(SEPARATOR)) == 0);
}

static bool probe_name_is_of_call(const struct profile_name *record, const struct probe_begin *call)
{
    if (call->kind == BLAME_PARAMETER)
        return probe_name_is_of_parameter(record, call);
    return probe_name_is(record, probe_node_kind(call->kind), call->text, call->bytes);
}

uint32_t probe_find_text(const struct probes *probes, const struct probe_begin *begin)
{
    const struct probe_text *text = &probes->texts[probe_text_place(begin)];
    if (text->text != begin->text || text->kind != begin->kind || !text->name)
        return 0;
    if (unlikely(text->name == PROBE_NAME_EXCLUDED))
        return text->number == probe_name_hash(begin->text, begin->bytes) ? text->name : 0;
    if (text->number != probe_text_number(begin) || !probe_name_is_of_call(probe_name_record(text->name), begin))
        return 0;
    return text->name;
}

static uint32_t probe_name_of_begin(const struct probe_begin *begin)
{
    char text[PARAMETER_NAME + 32];
    if (begin->kind != BLAME_PARAMETER)
        return probe_name(probe_node_kind(begin->kind), begin->text, begin->bytes, begin->place);
    int bytes = (int)(begin->bytes < PARAMETER_NAME ? begin->bytes : PARAMETER_NAME);
    bytes =
        snprintf(text, sizeof(text), "%.*s" SEPARATOR "%lld", bytes, begin->text, (long long)(int64_t)begin->number);
    return probe_name(PROFILE_NODE_PARAMETER, text, (size_t)bytes, begin->place);
}

uint32_t probe_look_up(struct thread *thread, const struct probe_begin *begin)
{
    if (!thread_enter_tool(thread))
        return 0;
    uint32_t name = probe_name_of_begin(begin);
    uint64_t number =
        name == PROBE_NAME_EXCLUDED ? probe_name_hash(begin->text, begin->bytes) : probe_text_number(begin);
    thread->probes->texts[probe_text_place(begin)] = (struct probe_text){begin->text, number, begin->kind, name};
    if (!name)
        probe_count_lost();
    thread_leave_tool(thread);
    return name;
}

bool probe_is_off(uint32_t name)
{
    return name == PROBE_NAME_EXCLUDED || (load_relaxed(&probe_name_record(name)->flags) & PROFILE_NAME_THROTTLED);
}

uint64_t probe_instance(uint32_t name, uint64_t number)
{
    struct profile_name *record = probe_name_record(name);
    if (unlikely(!(load_relaxed(&record->flags) & PROFILE_NAME_DYNAMIC)))
        __atomic_fetch_or(&record->flags, PROFILE_NAME_DYNAMIC, __ATOMIC_RELAXED);
    uint64_t execution = fetch_add_relaxed(&record->executions, 1);
    if (load_relaxed(&record->instances) >= (uint64_t)session.options.phase_instances)
        return PROFILE_INSTANCE_REST;
    return number == (uint64_t)BLAME_NEXT ? execution : number;
}

void probe_throttle(uint32_t name, uint64_t calls)
{
    struct profile_name *record = probe_name_record(name);
    if (record->kind != PROFILE_NODE_EVENT || (load_relaxed(&record->flags) & PROFILE_NAME_THROTTLED))
        return;
    store_relaxed(&record->throttled_after, calls);
    __atomic_fetch_or(&record->flags, PROFILE_NAME_THROTTLED, __ATOMIC_RELAXED);
}

static uint32_t probe_known_place(uint32_t parent, uint32_t name, uint64_t number)
{
    uint64_t hash = hash_number(parent ^ (uint64_t)name << 32 ^ number * 0xff51afd7ed558ccdull);
    return (uint32_t)(hash >> 40) % PROBE_PLACES;
}

/* Adds the probe's own nodes to the trie: one node, and for an iteration also a node for this execution. */
static uint32_t probe_add_nodes(struct tree *tree, uint32_t parent, const struct probe_begin *begin, uint32_t name)
{
    uint32_t context = tree_child(tree, parent, probe_node_kind(begin->kind), name), entries = tree->entries;
    if (!context || begin->kind != BLAME_ITERATION)
        return context;
    context = tree_child(tree, context, PROFILE_NODE_INSTANCE, begin->number);
    if (tree->entries != entries && begin->number != PROFILE_INSTANCE_REST)
        fetch_add_relaxed(&probe_name_record(name)->instances, 1);
    return context;
}

void probe_context_below(struct thread *thread, uint32_t parent, const struct probe_begin *begin,
                         struct probe_open *fresh)
{
    fresh->known = probe_known_place(parent, fresh->name, begin->number);
    struct probe_known *known = &thread->probes->known[fresh->known];
    if (likely(known->parent == parent && known->name == fresh->name && known->number == begin->number)) {
        fresh->context = known->context;
        return;
    }
    if (!parent || !thread_enter_tool(thread))
        return;
    fresh->context = probe_add_nodes(&thread->tree, parent, begin, fresh->name);
    *known = (struct probe_known){0};
    if (fresh->context)
        *known = (struct probe_known){
            .parent = parent, .name = fresh->name, .number = begin->number, .context = fresh->context};
    else
        probe_count_lost();
    thread_leave_tool(thread);
}

void probe_for_caller(struct thread *thread, struct probe_begin *begin)
{
    struct unwind_frame frame;
    enum unwind_result have;
    if (!thread_enter_tool(thread))
        return;
    unwinder_start_here(&thread->unwinder);
    do
        have = unwinder_next(&thread->unwinder, &frame);
    while (have == UNWIND_FRAME && frame.stack < begin->stack);
    if (have == UNWIND_FRAME && frame.cfa > begin->stack && frame.cfa <= thread->unwinder.own_stack_high) {
        begin->stack = frame.cfa;
        begin->place = *(const uintptr_t *)(frame.cfa - sizeof(uintptr_t));
    }
    signal_fence(); /* prevents a tail call, because the walk starts in this function's frame */
    thread_leave_tool(thread);
}

/* Walks the stack and remembers the path. Returns the trie node of the callers' context; 0 if none was
 * captured (which is counted). */
static uint32_t probe_walk_callers(struct thread *thread, const struct probe_begin *begin,
                                   const struct creation_key *key, struct probe_open *fresh)
{
    struct capture_creation found;
    if (!thread_enter_tool(thread))
        return 0;
    struct creation_memo *memo = key ? creation_memo_for_more(&thread->creation.memos) : NULL;
    if (memo)
        creation_memo_begin(memo, key);
    capture_probe(thread, begin->for_caller ? 2 : 1, memo, fresh, &found);
    if (memo && found.creator && found.complete && !(fresh->task.from_root && fresh->task.region))
        creation_memo_keep(memo, found.cut, found.creator);
    if (!found.creator)
        probe_count_lost();
    thread_leave_tool(thread);
    return found.creator;
}

/* Sets the bounds of the callers' part of the stack in *key, and the context below which the callers' path
 * continues. This part ends at the innermost open probe or at the current task's boundary. Returns false if
 * the runtime's addresses are not on this stack. */
static bool probe_callers_part_of_stack(const struct thread *thread, const struct probe_begin *begin,
                                        const struct task_level *level, const struct probe_open *around,
                                        struct creation_key *key)
{
    uintptr_t end = thread->unwinder.own_stack_high;
    key->codeptr = begin->place;
    key->low = begin->stack - 2 * sizeof(uintptr_t);
    /* the last frame to compare is the one that contains the probe's stack pointer */
    key->high = around ? around->stack + sizeof(uintptr_t) : level->exit ? level->exit : end;
    key->creator = around ? around->context : task_word_context(level->data);
    return (key->low | key->high) % sizeof(uintptr_t) == 0 && key->low < key->high && key->high <= end &&
           key->high - key->low <= INT32_MAX;
}

/* Returns the innermost open probe if it belongs to the current task; otherwise NULL. */
static const struct probe_open *probe_around(const struct thread *thread, const struct task_level *level)
{
    const struct probes *probes = thread->probes;
    const struct probe_open *around = probes->count ? &probes->open[probes->count - 1] : NULL;
    bool mine = around && around->context && around->task.region == level->region &&
                (!level->exit || around->stack < level->exit);
    return mine ? around : NULL;
}

/* Returns the level of the current task, with its exit address. Asks the runtime for this address only once
 * per task, because that takes as long as the rest of a begin call. */
static const struct task_level *probe_current_level(struct thread *thread)
{
    struct probes *probes = thread->probes;
    if (likely(probes->place == thread->level && (thread->level->team & LEVEL_PROBED)))
        return &probes->level;
    uintptr_t exit = 0;
    ompt_data_t *task = runtime_current_task(&exit);
    if (task && task != thread->level->task)
        levels_return_to(thread, task);
    probes->place = thread->level;
    probes->has_level = levels_describe(thread, thread->level, &probes->level);
    probes->level.exit = exit;
    if (probes->has_level)
        store_relaxed(&thread->level->team, thread->level->team | LEVEL_PROBED);
    return &probes->level;
}

void probe_context_find(struct thread *thread, const struct probe_begin *begin, struct probe_open *fresh)
{
    const struct task_level *level = probe_current_level(thread);
    struct creation_key key;
    fresh->task = (struct probe_task){level->region, level->kind, thread->probes->has_level, false};
    const struct probe_open *around = probe_around(thread, level);
    bool has_span = probe_callers_part_of_stack(thread, begin, level, around, &key);
    uint32_t parent = 0;
    if (around && around->stack <= begin->stack)
        /* the function that began `around` has returned, so there is nothing to walk */
        parent = around->context;
    else if (likely(has_span && thread->creation.memos))
        parent = creation_memo_find(thread->creation.memos, &key);
    if (unlikely(!parent))
        parent = probe_walk_callers(thread, begin, has_span ? &key : NULL, fresh);
    else if (around)
        fresh->task = around->task;
    probe_context_below(thread, parent, begin, fresh);
}

/* Returns true if the cached record belongs to the probe's context, below its region and in this instance of
 * the region. While the region has no context, this holds only until the next graft, which may move the
 * nodes. */
static inline bool probe_known_is_of(const struct probe_known *known, const struct probe_open *open,
                                     const struct tree *tree)
{
    return known->record && known->context == open->context && known->region == open->task.region &&
           (!open->task.region || (known->instance == open->task.region->instance && known->grafts == tree->grafts));
}

/* Replaces *node_idx by its child of this kind, and returns the child's record. Returns NULL if there is no
 * room (which is counted). */
static void *probe_record_below(struct tree *tree, uint32_t *node_idx, enum profile_node_kind kind)
{
    *node_idx = *node_idx ? tree_child(tree, *node_idx, kind, 0) : 0;
    void *record = *node_idx ? tree_metric(tree, *node_idx) : NULL;
    if (!record)
        probe_count_lost();
    return record;
}

static void probe_known_find_record(struct thread *thread, struct probe_open *open, struct probe_known *known)
{
    struct tree *tree = &thread->tree;
    uint32_t node_idx = capture_probe_node(thread, open);
    known->context = open->context;
    known->region = open->task.region;
    known->instance = open->task.region ? open->task.region->instance : 0;
    known->grafts = tree->grafts;
    known->record = probe_record_below(tree, &node_idx, PROFILE_NODE_PROBE);
    known->counters = thread->counters ? probe_record_below(tree, &node_idx, PROFILE_NODE_COUNTERS) : NULL;
}

struct profile_probe *probe_record(struct thread *thread, struct probe_open *open, struct profile_counters **counters)
{
    struct probe_known *known = &thread->probes->known[open->known], once = {0};
    if (likely(probe_known_is_of(known, open, &thread->tree))) {
        *counters = known->counters;
        return known->record;
    }
    bool entered = thread_enter_tool(thread);
    if (!entered && !thread->probes->finishing)
        return NULL;
    if (known->context != open->context)
        known = &once; /* the cache entry now belongs to another context */
    probe_known_find_record(thread, open, known);
    *counters = known->counters;
    if (entered)
        thread_leave_tool(thread);
    return known->record;
}

bool probe_is_ended_by(const struct probe_open *open, const struct probe_begin *end)
{
    const struct profile_name *record = probe_name_record(open->name);
    if (!probe_name_is_of_call(record, end))
        return false;
    if (likely(!(load_relaxed(&record->flags) & PROFILE_NAME_THROTTLED)))
        return true;
    /* an end call from another frame belongs to a begin call that was not measured */
    return end->for_caller || open->stack == end->stack;
}

void probe_misnested(struct thread *thread, uint32_t inner, uintptr_t inner_place, uint32_t outer,
                     uintptr_t outer_place)
{
    if (!thread_enter_tool(thread))
        return;
    probe_name_misnested(inner, inner_place, outer, outer_place);
    thread_leave_tool(thread);
}

/* Reports nothing if the begin call may have been dropped. That happens for an excluded or throttled event,
 * during a pause, for lack of room, and in a forked child, which does not know its parent's open probes. */
void probe_unmatched(struct thread *thread, const struct probe_begin *end)
{
    uint32_t name = probe_find_text(thread->probes, end);
    if (name && probe_is_off(name))
        return;
    if (region_epoch != 0 || load_relaxed(&session.paused) || load_relaxed(&arena_header()->probes_lost))
        return;
    if (!name)
        name = probe_look_up(thread, end);
    if (name && !probe_is_off(name))
        probe_misnested(thread, name, end->place, 0, end->place);
}
