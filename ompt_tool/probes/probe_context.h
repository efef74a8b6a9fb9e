/* The less common paths through a probe's begin and end: new names and contexts, walks, mistakes. All
 * functions enter the tool themselves. */
#ifndef BLAME_OMPT_TOOL_PROBES_PROBE_CONTEXT_H
#define BLAME_OMPT_TOOL_PROBES_PROBE_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "include/blame.h"
#include "ompt_tool/context/probe_stack.h"

struct thread;

/* A call of the program, begin or end. */
struct probe_begin {
    const char *text;
    size_t bytes;
    enum blame_kind kind;
    bool for_caller; /* the calling function acts for another one: BLAME_FOR_CALLER */
    uint64_t number;
    uintptr_t place; /* the call's return address */
    uintptr_t stack; /* the calling function's stack pointer */
};

/* Turns the call into one of the function's caller. [owner] */
void probe_for_caller(struct thread *thread, struct probe_begin *begin);

/* Returns the name's number if the thread has looked it up before, otherwise 0. [owner] */
uint32_t probe_find_text(const struct probes *probes, const struct probe_begin *begin);

/* Looks up or makes the name's number; returns 0 without room (counted). [owner] */
uint32_t probe_look_up(struct thread *thread, const struct probe_begin *begin);

/* Returns true if the name is excluded or throttled: begin and end do nothing. [owner] */
bool probe_is_off(uint32_t name);

/* Returns the number of an iteration's row: its own, the next one or, beyond BLAME_PHASE_INSTANCES, that of
 * the rest. [owner] */
uint64_t probe_instance(uint32_t name, uint64_t number);

/* Stops measuring an event. [owner] */
void probe_throttle(uint32_t name, uint64_t calls);

/* Fills in fresh->context, the probe below the context parent, and fresh->known, its index among the known
 * contexts. [owner] */
void probe_context_below(struct thread *thread, uint32_t parent, const struct probe_begin *begin,
                         struct probe_open *fresh);

/* Fills in fresh's context from the stack, by a known path or by a walk. [owner] */
void probe_context_find(struct thread *thread, const struct probe_begin *begin, struct probe_open *fresh);

/* Returns the record for an open probe's exact times, NULL without room. *counters: its exact counts, NULL
 * also if nothing is counted. [owner] */
struct profile_probe *probe_record(struct thread *thread, struct probe_open *open, struct profile_counters **counters);

/* Returns whether the call ends that probe. [owner] */
bool probe_is_ended_by(const struct probe_open *open, const struct probe_begin *end);

/* Reports once that `inner` was still open at the end of `outer` (PROBE_NAME_REGION: its region or thread).
 * [owner] */
void probe_misnested(struct thread *thread, uint32_t inner, uintptr_t inner_place, uint32_t outer,
                     uintptr_t outer_place);

/* Reports an end without a begin. [owner] */
void probe_unmatched(struct thread *thread, const struct probe_begin *end);

#endif
