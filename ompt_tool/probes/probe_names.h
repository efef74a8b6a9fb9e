/* Names of phases, events and parameters: kept by content, numbered, and in the file as soon as they are
 * known. */
#ifndef BLAME_OMPT_TOOL_PROBES_PROBE_NAMES_H
#define BLAME_OMPT_TOOL_PROBES_PROBE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cct/profile_tree.h"

#define PROBE_NAME_EXCLUDED UINT32_MAX /* excluded by BLAME_EVENTS_INCLUDE or _EXCLUDE */

#define PROBE_NAME_REGION (UINT32_MAX - 1) /* not a name: the end of a region or thread */

/* Returns the name's number, and makes it if the name is new; place: address of the call. Returns 0 without
 * room, PROBE_NAME_EXCLUDED for an excluded event. Waits for other threads' look-ups: the thread must be in
 * the tool (T1). [owner] */
uint32_t probe_name(enum profile_node_kind kind, const char *text, size_t bytes, uintptr_t place);

/* Returns the record of a number from probe_name(). [owner] */
struct profile_name *probe_name_record(uint32_t number);

/* Returns whether the record has this name. [owner] */
bool probe_name_is(const struct profile_name *record, enum profile_node_kind kind, const char *text, size_t bytes);

/* Notes, once for each name, that it was left open at the end of another (outer) or of its region, or that it
 * ended without a begin (outer 0). The places are the addresses of the two calls. [owner] */
void probe_name_misnested(uint32_t inner, uintptr_t inner_place, uint32_t outer, uintptr_t outer_place);

/* Returns the hash of a name's text. [owner] */
uint64_t probe_name_hash(const char *text, size_t bytes);

/* Counts a begin that found no room. [owner] */
void probe_count_lost(void);

/* Forgets all names, in a forked child. [init] */
void probe_names_reset(void);

#endif
