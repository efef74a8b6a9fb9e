/* From addresses to names, using libdw: functions, inlined functions, source lines, OpenMP constructs. Runs
 * after the measurement (at exit or in `blame report`). The cost depends on what is asked for, not on the
 * size of the binary. */
#ifndef BLAME_COMMAND_SYMBOLS_SYMBOLS_H
#define BLAME_COMMAND_SYMBOLS_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "command/symbols/answers.h"
#include "command/symbols/symbol.h"

struct profile_header;
struct profile_module;
struct symbols;

/* Opens a lookup. modules: module id m is modules[m - 1]; borrowed, must outlive the result. */
struct symbols *symbols_open(const struct profile_module *modules, size_t module_count);
void symbols_close(struct symbols *symbols);
/* Says that the process with this number may be the measured one. If its file is gone or another build, the
 * kernel still has the running one. */
void symbols_still_runs(struct symbols *symbols, pid_t pid);

/* Sets the mount namespace in which the program ran, as in /proc/self/ns/mnt; NULL: unknown. */
void symbols_mounts(struct symbols *symbols, const char *mounts);

/* Says which measurement may have copies beside it of libraries that were deleted before the program ended.
 * symbols_keep() removes the copies. */
void symbols_beside(struct symbols *symbols, const char *measurement);

/* Reads /tmp/perf-PID.map, if the process wrote it, for names of code that the process compiled. The file
 * must have the same owner as the measurement's file. */
void symbols_read_perf_map(struct symbols *symbols, const struct profile_header *header, const char *measurement);

/* Finds the logical frames at a key (a PROFILE_KEY), innermost (deepest inlined) first; the last one is the
 * function that is really on the stack. Returns their number, at least 1. *frames is valid until
 * symbols_close(). Cached.
 *
 * Without debug information there is one frame with the symbol; without a symbol its name is
 * "module+0xoffset"; without a module (code compiled at run time that no perf map names), or in a module
 * without a name, it is "<unknown function>". */
size_t symbols_lookup(struct symbols *symbols, uint64_t key, const struct symbol_frame **frames);

/* Returns the entry (a key) of the function around key; 0 if its extent is unknown. The extent comes from
 * symbols, or in a module that uses OpenMP from the unwind tables. */
uint64_t symbols_function_entry(struct symbols *symbols, uint64_t key);
/* Returns the call at key (return address - 1); NULL if unknown. */
const struct symbol_call *symbols_call_at(struct symbols *symbols, uint64_t key);
/* Returns all calls of the function with this entry, in no order, and their number. Valid until
 * symbols_close(). Cached. */
size_t symbols_calls(struct symbols *symbols, uint64_t entry, const struct symbol_call **calls);
/* Returns the entry (a key) of the function that a module exports by this name; 0 if there is none. */
uint64_t symbols_function_named(struct symbols *symbols, uint32_t module_id, const char *name);
/* Returns the entries (keys) of all functions of a module that compilers outlined from constructs, and their
 * number. */
size_t symbols_bodies(struct symbols *symbols, uint32_t module_id, const uint64_t **keys);

/* Looks up the frames missing between a caller's frame and the next function on the stack (goal: its entry).
 * Returns true with the frames if they were found before, or with none if there is no file to search. Returns
 * false if a search is needed; until symbols_gap_found(), questions count as parts of that search. */
bool symbols_gap(struct symbols *symbols, uint64_t caller, uint64_t goal, const struct tail_frame **frames,
                 size_t *count);
/* Ends the search and stores its result. Returns a copy of the frames; NULL if there is no memory. */
const struct tail_frame *symbols_gap_found(struct symbols *symbols, uint64_t caller, uint64_t goal,
                                           const struct tail_frame *frames, size_t count);

/* Returns the name of the data object at vaddr of a module, "symbol" or "symbol+offset"; NULL if there is
 * none. */
const char *symbols_data(struct symbols *symbols, uint32_t module_id, uint64_t vaddr);

/* Returns the module's file name, such as "libomp.so.5"; "" for module 0. */
const char *symbols_module_name(struct symbols *symbols, uint32_t module_id);
/* Returns the same for code; "[perf map]" for code that is in no file but has a name. */
const char *symbols_code_module(struct symbols *symbols, uint64_t key);

/* Reads stored names, so that names outlive the binary. Answers are stored in a file beside the measurement
 * (its name with .symbols for .blame). A stored answer is preferred to the module's own file, unless that is
 * of the same build and knows more.
 *
 * Call before asking anything. Returns NULL, or one line that says why an existing file cannot be used.
 * numbers: for a measurement with other module numbers, otherwise NULL. */
const char *symbols_recall(struct symbols *symbols, const struct profile_header *header, const char *measurement,
                           const struct symbols_numbers *numbers);
/* after symbols_recall(): whether there is such a file */
bool symbols_are_kept(const struct symbols *symbols);
bool symbols_have_news(const struct symbols *symbols); /* whether there are answers to store */
/* Stores the answers. Returns 0 or an errno value. */
int symbols_keep(struct symbols *symbols, const struct profile_header *header, const char *measurement);
/* Returns one line about modules whose files differ from the measured ones, or whose split debug information
 * is missing; NULL if there are none. The caller frees it. */
char *symbols_changes(struct symbols *symbols);

#define SYMBOLS_PRODUCERS 16 /* most producers of one module */

/* Returns the different DW_AT_producer values of a module's units, and their number. Texts are valid until
 * symbols_close(). There are none without debug information, or if the measured build's file is gone. */
size_t symbols_producers(struct symbols *symbols, uint32_t module_id, const char *producer[SYMBOLS_PRODUCERS]);

#endif
