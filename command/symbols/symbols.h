/* Finds the names of code addresses by libdw: functions, inlined functions, source lines and OpenMP
 * constructs. Runs after the measurement, at the program's exit or in `blame report`. The cost depends on the
 * number of questions, not on the size of the binary. */
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

/* Opens a symbol lookup. The module with number m is modules[m - 1]. `modules` is not copied, so it must
 * outlive the lookup. */
struct symbols *symbols_open(const struct profile_module *modules, size_t module_count);
void symbols_close(struct symbols *symbols);
/* Says that process `pid` may be the measured program and may still run. A module's file that was deleted or
 * replaced can then be opened through /proc. */
void symbols_still_runs(struct symbols *symbols, pid_t pid);

/* Sets the mount namespace in which the program ran, as /proc/self/ns/mnt shows it. NULL: unknown. */
void symbols_mounts(struct symbols *symbols, const char *mounts);

/* Sets the path of the measurement file. Beside it may be copies of libraries that were deleted before the
 * program ended. symbols_keep() removes these copies. */
void symbols_beside(struct symbols *symbols, const char *measurement);

/* Reads /tmp/perf-PID.map, if the measured process wrote it. It names the code that the process compiled
 * while it ran. The map must have the same owner as the measurement file. */
void symbols_read_perf_map(struct symbols *symbols, const struct profile_header *header, const char *measurement);

/* Finds the frames of the code at a key (PROFILE_KEY), innermost inlined function first. The last frame is
 * the function that really is on the stack. Returns the number of frames, at least 1. *frames is valid until
 * symbols_close(). The result is cached.
 *
 * Without debug information, the only frame has the name of the symbol. Without a symbol, its name is
 * "module+0xoffset". In a module without a name, and for code that is in no module and no perf map, the name
 * is "<unknown function>". */
size_t symbols_lookup(struct symbols *symbols, uint64_t key, const struct symbol_frame **frames);

/* Returns the entry, as a key, of the function that contains the key, or 0 if it is unknown. Symbols show
 * where functions start and end, and so do unwind tables in a module that uses OpenMP. */
uint64_t symbols_function_entry(struct symbols *symbols, uint64_t key);
/* Returns the call whose return address - 1 is the key, or NULL if it is unknown. */
const struct symbol_call *symbols_call_at(struct symbols *symbols, uint64_t key);
/* Finds all calls in the function that starts at `entry`, in no particular order. Returns their number.
 * *calls is valid until symbols_close(). The result is cached. */
size_t symbols_calls(struct symbols *symbols, uint64_t entry, const struct symbol_call **calls);
/* Returns the entry, as a key, of the function that has this name in the module, or 0 if there is none. */
uint64_t symbols_function_named(struct symbols *symbols, uint32_t module_id, const char *name);
/* Finds the entries, as keys, of all functions that compilers outlined from the module's constructs. Returns
 * their number. */
size_t symbols_bodies(struct symbols *symbols, uint32_t module_id, const uint64_t **keys);

/* Looks up the frames that a tail call removed between the frame of a caller and the next function on the
 * stack, whose entry is `goal`. Returns true if the frames are known from an earlier search, and true with no
 * frames if there is no file to search. Returns false if the caller must search. Questions that are asked
 * before symbols_gap_found() then count as part of the search. */
bool symbols_gap(struct symbols *symbols, uint64_t caller, uint64_t goal, const struct tail_frame **frames,
                 size_t *count);
/* Ends the search and stores the frames that it found. Returns a copy of them, or NULL if memory runs out. */
const struct tail_frame *symbols_gap_found(struct symbols *symbols, uint64_t caller, uint64_t goal,
                                           const struct tail_frame *frames, size_t count);

/* Returns the name of the data object at vaddr in a module, as "symbol" or "symbol+offset", or NULL if there
 * is none. */
const char *symbols_data(struct symbols *symbols, uint32_t module_id, uint64_t vaddr);

/* Returns the file name of a module, such as "libomp.so.5", or "" for module 0. */
const char *symbols_module_name(struct symbols *symbols, uint32_t module_id);
/* Returns the file name of the module that contains a key, or "[perf map]" for code that belongs to no file
 * but has a name. */
const char *symbols_code_module(struct symbols *symbols, uint64_t key);

/* Reads the answers that symbols_keep() stored, so that names are known even without the binary. They are in
 * the file of names, which has the path of the measurement file with the suffix .symbols instead of .blame.
 * Stored answers are used rather than the module's own file, unless this file is the same build and has more
 * detailed names.
 *
 * Must be called before the first question. Returns NULL, or one line that says why an existing file cannot
 * be used. `numbers` translates module numbers if those of the measurement differ; otherwise it is NULL. */
const char *symbols_recall(struct symbols *symbols, const struct profile_header *header, const char *measurement,
                           const struct symbols_numbers *numbers);
/* Returns whether symbols_recall() found a file of names. */
bool symbols_are_kept(const struct symbols *symbols);
/* Returns whether there are answers that have not been stored. */
bool symbols_have_news(const struct symbols *symbols);
/* Stores the answers in the file of names. Returns 0, or an errno value on failure. */
int symbols_keep(struct symbols *symbols, const struct profile_header *header, const char *measurement);
/* Returns one line about the modules whose files are not the measured ones or whose split debug information
 * is missing. Returns NULL if there are none. The caller frees the line. */
char *symbols_changes(struct symbols *symbols);

#define SYMBOLS_PRODUCERS 16 /* maximum number of a module's compilers that are listed */

/* Finds the distinct DW_AT_producer values in a module's compilation units. Returns their number, which is 0
 * if there is no debug information or the file of the measured build is not available. The texts are valid
 * until symbols_close(). */
size_t symbols_producers(struct symbols *symbols, uint32_t module_id, const char *producer[SYMBOLS_PRODUCERS]);

#endif
