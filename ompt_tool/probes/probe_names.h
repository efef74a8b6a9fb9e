/* The names of phases, events and parameters. Each new text gets a number and a record in the measurement
 * file. */
#ifndef BLAME_OMPT_TOOL_PROBES_PROBE_NAMES_H
#define BLAME_OMPT_TOOL_PROBES_PROBE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cct/profile_tree.h"

/* the number of all events that BLAME_EVENTS_INCLUDE or BLAME_EVENTS_EXCLUDE excludes */
#define PROBE_NAME_EXCLUDED UINT32_MAX

/* a number that belongs to no name and means the end of a region or thread */
#define PROBE_NAME_REGION (UINT32_MAX - 1)

/* Returns the number of a name; a new name gets a new number. `place` is the return address of the begin
 * call. Returns 0 if there is no room, PROBE_NAME_EXCLUDED for an excluded event. Waits while other threads
 * look up names, so it must be called between thread_enter_tool() and thread_leave_tool() (T1). [owner] */
uint32_t probe_name(enum profile_node_kind kind, const char *text, size_t bytes, uintptr_t place);

/* Returns the record of a name. The number must come from probe_name(). [owner] */
struct profile_name *probe_name_record(uint32_t number);

/* Returns true if the record has this kind and text. [owner] */
bool probe_name_is(const struct profile_name *record, enum profile_node_kind kind, const char *text, size_t bytes);

/* Reports, once for each name, a mistake of the program: that `inner` was still open when `outer` ended, or
 * when its region or thread ended (`outer` is PROBE_NAME_REGION), or that `inner` ended without having begun
 * (`outer` is 0). The places are the return addresses of the two calls. [owner] */
void probe_name_misnested(uint32_t inner, uintptr_t inner_place, uint32_t outer, uintptr_t outer_place);

/* Returns the hash of a name's text. [owner] */
uint64_t probe_name_hash(const char *text, size_t bytes);

/* Counts a begin call for which there was no room. [owner] */
void probe_count_lost(void);

/* In a forked child: forgets all names. [init] */
void probe_names_reset(void);

#endif
