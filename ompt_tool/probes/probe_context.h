/* The less common paths of begin and end calls: new names, new contexts, walks, and mistakes of the program.
 * These functions call thread_enter_tool() themselves. */
#ifndef BLAME_OMPT_TOOL_PROBES_PROBE_CONTEXT_H
#define BLAME_OMPT_TOOL_PROBES_PROBE_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "include/blame.h"
#include "ompt_tool/context/probe_stack.h"

struct thread;

/* A begin or end call of the program. */
struct probe_begin {
    const char *text;
    size_t bytes;
    enum blame_kind kind;
    bool for_caller; /* true if the calling function acts for its own caller (BLAME_FOR_CALLER) */
    uint64_t number;
    uintptr_t place; /* return address of the call */
    uintptr_t stack; /* stack pointer of the calling function */
};

/* Treats the call as if the caller of the calling function had made it: changes begin->stack and begin->place
 * accordingly. [owner] */
void probe_for_caller(struct thread *thread, struct probe_begin *begin);

/* Returns the number of the call's name if the thread has looked up this name before; otherwise 0. [owner] */
uint32_t probe_find_text(const struct probes *probes, const struct probe_begin *begin);

/* Looks up the number of the call's name. A new name gets a new number. Returns 0 if there is no room (which
 * is counted). [owner] */
uint32_t probe_look_up(struct thread *thread, const struct probe_begin *begin);

/* Returns true if the name is excluded or throttled, so that its begin and end calls do nothing. [owner] */
bool probe_is_off(uint32_t name);

/* Returns the number of an iteration's row: `number`, or for BLAME_NEXT the next number. All iterations after
 * the first BLAME_PHASE_INSTANCES rows share one row. [owner] */
uint64_t probe_instance(uint32_t name, uint64_t number);

/* Stops measuring the event with this name, after so many calls as `calls` says. [owner] */
void probe_throttle(uint32_t name, uint64_t calls);

/* Sets fresh->context, the probe's trie node below `parent`, and fresh->known, the index of this context in
 * probes.known. [owner] */
void probe_context_below(struct thread *thread, uint32_t parent, const struct probe_begin *begin,
                         struct probe_open *fresh);

/* Finds the context of the new probe `fresh`, either from a known path or by walking the stack. [owner] */
void probe_context_find(struct thread *thread, const struct probe_begin *begin, struct probe_open *fresh);

/* Returns the record of an open probe's exact times; NULL if there is no room. Sets *counters to the record
 * of its exact counts, or to NULL if there is no room or nothing is counted. [owner] */
struct profile_probe *probe_record(struct thread *thread, struct probe_open *open, struct profile_counters **counters);

/* Returns true if the end call belongs to this open probe. [owner] */
bool probe_is_ended_by(const struct probe_open *open, const struct probe_begin *end);

/* Reports, once for each name, that `inner` was still open when `outer` ended. If `outer` is
 * PROBE_NAME_REGION, it was open at the end of its region or thread. [owner] */
void probe_misnested(struct thread *thread, uint32_t inner, uintptr_t inner_place, uint32_t outer,
                     uintptr_t outer_place);

/* Reports an end call without a begin call. [owner] */
void probe_unmatched(struct thread *thread, const struct probe_begin *end);

#endif
