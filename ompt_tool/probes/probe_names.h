/* Names of phases, events and parameters: kept by content, numbered, in the file as soon as they are known. */
#ifndef BLAME_OMPT_TOOL_PROBES_PROBE_NAMES_H
#define BLAME_OMPT_TOOL_PROBES_PROBE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cct/profile_tree.h"

#define PROBE_NAME_EXCLUDED UINT32_MAX /* by BLAME_EVENTS_INCLUDE or _EXCLUDE */

#define PROBE_NAME_REGION (UINT32_MAX - 1) /* not a name: the end of a region or thread */

/* Number of the name, made when it is new; place: address of the call. 0 when there is no room,
 * PROBE_NAME_EXCLUDED for an event that is not to be measured. Waits for other threads that look one up, so
 * the thread must be in the tool (T1). [owner] */
uint32_t probe_name(enum profile_node_kind kind, const char *text, size_t bytes, uintptr_t place);

/* The record of a number that probe_name() gave. [owner] */
struct profile_name *probe_name_record(uint32_t number);

/* Whether the record is this name's. [owner] */
bool probe_name_is(const struct profile_name *record, enum profile_node_kind kind, const char *text, size_t bytes);

/* Notes once for each name that it was left open where another (outer), or its region, ended, or that it
 * ended without a begin (outer 0); addresses of the two calls. [owner] */
void probe_name_misnested(uint32_t inner, uintptr_t inner_place, uint32_t outer, uintptr_t outer_place);

/* Hash of a name's text. [owner] */
uint64_t probe_name_hash(const char *text, size_t bytes);

/* Counts a begin for which there was no room. [owner] */
void probe_count_lost(void);

/* Forgets all names: the child of a fork. [init] */
void probe_names_reset(void);

#endif
