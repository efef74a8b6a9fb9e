/* The names of phases, events and parameters. Each different text gets a number, and from then on its record
 * is in the measurement file. */
#ifndef BLAME_OMPT_TOOL_PROBES_PROBE_NAMES_H
#define BLAME_OMPT_TOOL_PROBES_PROBE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cct/profile_tree.h"

/* number of an event that BLAME_EVENTS_INCLUDE or BLAME_EVENTS_EXCLUDE excludes */
#define PROBE_NAME_EXCLUDED UINT32_MAX

#define PROBE_NAME_REGION (UINT32_MAX - 1) /* not a name: stands for the end of a region or thread */

/* Returns the number of a name, and creates it if the name is new. `place` is the return address of the call.
 * Returns 0 if there is no room, PROBE_NAME_EXCLUDED for an excluded event. Waits while other threads look up
 * names, so call it between thread_enter_tool() and thread_leave_tool() (T1). [owner] */
uint32_t probe_name(enum profile_node_kind kind, const char *text, size_t bytes, uintptr_t place);

/* Returns the record of a number that probe_name() has returned. [owner] */
struct profile_name *probe_name_record(uint32_t number);

/* Returns true if the record has this kind and text. [owner] */
bool probe_name_is(const struct profile_name *record, enum profile_node_kind kind, const char *text, size_t bytes);

/* Reports, once for each name, that `inner` was still open at the end of `outer`, or of its region or thread
 * (PROBE_NAME_REGION), or that it ended without a begin call (outer 0). The places are the return addresses
 * of the two calls. [owner] */
void probe_name_misnested(uint32_t inner, uintptr_t inner_place, uint32_t outer, uintptr_t outer_place);

/* Returns the hash of a name's text. [owner] */
uint64_t probe_name_hash(const char *text, size_t bytes);

/* Counts a begin call for which there was no room. [owner] */
void probe_count_lost(void);

/* Forgets all names, in a forked child. [init] */
void probe_names_reset(void);

#endif
