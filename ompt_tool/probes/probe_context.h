/* The less common ways through a probe's begin and end: names and contexts that are new, walks, what was
 * wrong. All but what is marked enter the tool themselves. */
#ifndef BLAME_OMPT_TOOL_PROBES_PROBE_CONTEXT_H
#define BLAME_OMPT_TOOL_PROBES_PROBE_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "include/blame.h"
#include "ompt_tool/context/probe_stack.h"

struct thread;

/* A call of the program's, begin or end. */
struct probe_begin {
    const char *text;
    size_t bytes;
    enum blame_kind kind;
    bool for_caller; /* the calling function stands for another: BLAME_FOR_CALLER */
    uint64_t number;
    uintptr_t place; /* its return address */
    uintptr_t stack; /* the calling function's stack pointer */
};

/* Makes it the call of the function's caller. [owner] */
void probe_for_caller(struct thread *thread, struct probe_begin *begin);

/* The name's number when the thread has looked it up before, else 0. [owner] */
uint32_t probe_find_text(const struct probes *probes, const struct probe_begin *begin);

/* The same, looked up or made; 0 when there is no room (counted). [owner] */
uint32_t probe_look_up(struct thread *thread, const struct probe_begin *begin);

/* Excluded or throttled: begin and end do nothing. [owner] */
bool probe_is_off(uint32_t name);

/* The number of an iteration's row: its own, the next one or, beyond BLAME_PHASE_INSTANCES of them, that of
 * the rest. [owner] */
uint64_t probe_instance(uint32_t name, uint64_t number);

/* Stops measuring an event. [owner] */
void probe_throttle(uint32_t name, uint64_t calls);

/* Fills fresh->context: the probe below the context parent, to be known at fresh->known. [owner] */
void probe_context_below(struct thread *thread, uint32_t parent, const struct probe_begin *begin,
                         struct probe_open *fresh);

/* Fills what fresh says of its context, by what is on the stack: compared with paths that were walked before,
 * or walked. [owner] */
void probe_context_find(struct thread *thread, const struct probe_begin *begin, struct probe_open *fresh);

/* Where the exact times of an open one go, NULL when there is no room, and its exact counts, NULL also when
 * nothing is counted. [owner] */
struct profile_probe *probe_record(struct thread *thread, struct probe_open *open, struct profile_counters **counters);

/* Whether the call ends that one. [owner] */
bool probe_is_ended_by(const struct probe_open *open, const struct probe_begin *end);

/* Tells once that `inner` was still open where `outer` (PROBE_NAME_REGION: its region or thread) ended.
 * [owner] */
void probe_misnested(struct thread *thread, uint32_t inner, uintptr_t inner_place, uint32_t outer,
                     uintptr_t outer_place);

/* An end without a begin. [owner] */
void probe_unmatched(struct thread *thread, const struct probe_begin *end);

#endif
