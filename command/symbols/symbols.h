/* Finds names for addresses, using libdw: functions, inlined functions, source lines and OpenMP constructs.
 * Runs after the measurement (at exit or in `blame report`). The cost depends on the questions, not on the
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

/* Opens a lookup. Module number m is modules[m - 1]. `modules` is borrowed and must outlive the result. */
struct symbols *symbols_open(const struct profile_module *modules, size_t module_count);
void symbols_close(struct symbols *symbols);
/* Declares that process `pid` may be the measured one, still running. If a module's file was deleted or
 * replaced, the file of the running program is then opened through /proc. */
void symbols_still_runs(struct symbols *symbols, pid_t pid);

/* Sets the mount namespace in which the program ran, as in /proc/self/ns/mnt. NULL: unknown. */
void symbols_mounts(struct symbols *symbols, const char *mounts);

/* Sets the measurement file, beside which there may be copies of libraries that were deleted before the
 * program ended. symbols_keep() removes the copies. */
void symbols_beside(struct symbols *symbols, const char *measurement);

/* Reads /tmp/perf-PID.map if the process wrote it, for names of code that the process compiled. The map must
 * have the same owner as the measurement file. */
void symbols_read_perf_map(struct symbols *symbols, const struct profile_header *header, const char *measurement);

/* Finds the frames at a key (PROFILE_KEY), innermost inlined function first. The last one is the function
 * that is really on the stack. Returns their number, at least 1. *frames is valid until symbols_close(). The
 * result is cached.
 *
 * Without debug information there is one frame, named after the symbol. Without a symbol, its name is
 * "module+0xoffset". It is "<unknown function>" in a module without a name, and for code that is in no module
 * and no perf map. */
size_t symbols_lookup(struct symbols *symbols, uint64_t key, const struct symbol_frame **frames);

/* Returns the entry of the function that contains the key, as a key; 0 if unknown. The function's extent
 * comes from symbols, or, in a module that uses OpenMP, from the unwind tables. */
uint64_t symbols_function_entry(struct symbols *symbols, uint64_t key);
/* Returns the call at a key (return address - 1); NULL if unknown. */
const struct symbol_call *symbols_call_at(struct symbols *symbols, uint64_t key);
/* Finds all calls of the function with this entry, in no particular order. Returns their number. *calls is
 * valid until symbols_close(). The result is cached. */
size_t symbols_calls(struct symbols *symbols, uint64_t entry, const struct symbol_call **calls);
/* Returns the entry of the module's function with this name, as a key; 0 if there is none. */
uint64_t symbols_function_named(struct symbols *symbols, uint32_t module_id, const char *name);
/* Finds the entries of all functions that compilers outlined from constructs of a module, as keys. Returns
 * their number. */
size_t symbols_bodies(struct symbols *symbols, uint32_t module_id, const uint64_t **keys);

/* Looks up the frames that a tail call removed between a caller's frame and the next function on the stack,
 * whose entry is `goal`. Returns true if the frames were found before, or, with none, if there is no file to
 * search. Returns false if the caller must search. Until symbols_gap_found(), questions count as part of that
 * search. */
bool symbols_gap(struct symbols *symbols, uint64_t caller, uint64_t goal, const struct tail_frame **frames,
                 size_t *count);
/* Ends the search and stores its result. Returns a copy of the frames; NULL if memory runs out. */
const struct tail_frame *symbols_gap_found(struct symbols *symbols, uint64_t caller, uint64_t goal,
                                           const struct tail_frame *frames, size_t count);

/* Returns the name of the data object at vaddr in a module, "symbol" or "symbol+offset"; NULL if there is
 * none. */
const char *symbols_data(struct symbols *symbols, uint32_t module_id, uint64_t vaddr);

/* Returns the module's file name, such as "libomp.so.5"; "" for module 0. */
const char *symbols_module_name(struct symbols *symbols, uint32_t module_id);
/* Returns the file name of a key's module. For code that is in no file but has a name, returns "[perf map]". */
const char *symbols_code_module(struct symbols *symbols, uint64_t key);

/* Reads the answers that symbols_keep() stored, so that names remain known without the binary. They are in a
 * file beside the measurement file, with the suffix .symbols instead of .blame. Stored answers are preferred
 * to the module's own file, unless that file is the same build and has more detailed names.
 *
 * Must be called before the first question. Returns NULL, or one line that says why an existing file cannot
 * be used. `numbers` translates module numbers if the measurement has others; otherwise it is NULL. */
const char *symbols_recall(struct symbols *symbols, const struct profile_header *header, const char *measurement,
                           const struct symbols_numbers *numbers);
/* Returns whether symbols_recall() found a file of names. */
bool symbols_are_kept(const struct symbols *symbols);
bool symbols_have_news(const struct symbols *symbols); /* whether there are answers to store */
/* Stores the answers in the file of names. Returns 0 or an errno value. */
int symbols_keep(struct symbols *symbols, const struct profile_header *header, const char *measurement);
/* Returns one line about modules whose files differ from the measured ones, or whose split debug information
 * is missing; NULL if there are none. The caller frees it. */
char *symbols_changes(struct symbols *symbols);

#define SYMBOLS_PRODUCERS 16 /* maximum number of compilers of one module */

/* Finds the distinct DW_AT_producer values of a module's units. Returns their number; 0 without debug
 * information, or if the measured build's file is not available. The texts are valid until symbols_close(). */
size_t symbols_producers(struct symbols *symbols, uint32_t module_id, const char *producer[SYMBOLS_PRODUCERS]);

#endif
