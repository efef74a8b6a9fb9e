/* From addresses to names, by libdw: functions, inlined functions, source lines, OpenMP constructs. Runs
 * after the measurement (at exit or in `blame report`); costs what was asked for, not what the binary
 * contains. */
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

/* modules: module id m is modules[m - 1]; borrowed, must outlive the result. */
struct symbols *symbols_open(const struct profile_module *modules, size_t module_count);
void symbols_close(struct symbols *symbols);
/* The process with this number may be the one that was measured: its file may be gone, or be another build by now, but the
 * kernel still has the one that runs. */
void symbols_still_runs(struct symbols *symbols, pid_t pid);

/* The mount namespace in which the program ran, as /proc/self/ns/mnt has it; NULL: not known. */
void symbols_mounts(struct symbols *symbols, const char *mounts);

/* Files of libraries that had gone when the program ended may be beside its measurement; symbols_keep() removes them. */
void symbols_beside(struct symbols *symbols, const char *measurement);

/* Code that the process compiled has names in /tmp/perf-PID.map, if it wrote that. Whose it is tells the measurement's file. */
void symbols_read_perf_map(struct symbols *symbols, const struct profile_header *header, const char *measurement);

/* The logical frames at key (a PROFILE_KEY), innermost (deepest inlined) first, the function that is really
 * on the stack last. Returns their number, at least 1; *frames stays valid until symbols_close; results are
 * cached. Without debug information one frame with its symbol; without a symbol, name "module+0xoffset"; in
 * no module (compiled as the program ran) without a name in a perf map, or in a module without any name: "<unknown function>". */
size_t symbols_lookup(struct symbols *symbols, uint64_t key, const struct symbol_frame **frames);

/* Entry (a key) of the function around key; 0 when its extent is not known: by name, or in a
 * module that uses OpenMP by the unwind tables. */
uint64_t symbols_function_entry(struct symbols *symbols, uint64_t key);
/* The call at key (return address - 1); NULL: not known. */
const struct symbol_call *symbols_call_at(struct symbols *symbols, uint64_t key);
/* All calls of the function with this entry, in no order. Valid until symbols_close, cached. */
size_t symbols_calls(struct symbols *symbols, uint64_t entry, const struct symbol_call **calls);
/* Entry (a key) of the function that a module exports by this name; 0: none. */
uint64_t symbols_function_named(struct symbols *symbols, uint32_t module_id, const char *name);
/* Entries (keys) of all functions of a module that compilers outlined from constructs. */
size_t symbols_bodies(struct symbols *symbols, uint32_t module_id, const uint64_t **keys);

/* The frames missing between a caller's frame and the entry of the function that is next on the stack: true,
 * and what was found out before, or nothing as there is no file to search in. false: to be searched for; what
 * is asked up to symbols_gap_found() is asked for the search alone. */
bool symbols_gap(struct symbols *symbols, uint64_t caller, uint64_t goal, const struct tail_frame **frames,
                 size_t *count);
/* Keeps what was found; its copy; NULL: no memory. */
const struct tail_frame *symbols_gap_found(struct symbols *symbols, uint64_t caller, uint64_t goal,
                                           const struct tail_frame *frames, size_t count);

/* Name of the data object that contains vaddr of a module, "symbol" or "symbol+offset"; NULL when there is
 * none. */
const char *symbols_data(struct symbols *symbols, uint32_t module_id, uint64_t vaddr);

/* Base name of the module, e.g. "libomp.so.5"; "" for module 0. */
const char *symbols_module_name(struct symbols *symbols, uint32_t module_id);
/* The same of code; "[perf map]" of what has a name and is no file's. */
const char *symbols_code_module(struct symbols *symbols, uint64_t key);

/* Names outlive the binary: what was asked is kept in a file beside the measurement (its name with .symbols
 * for .blame), and what is there is used before a module's own file, unless that is of the same build and
 * knows more.
 *
 * Before anything is asked: takes what is kept with `measurement`. NULL, or one line why a file that is there
 * is of no use. Of a measurement whose modules have other numbers, with these (else NULL). */
const char *symbols_recall(struct symbols *symbols, const struct profile_header *header, const char *measurement,
                           const struct symbols_numbers *numbers);
bool symbols_are_kept(const struct symbols *symbols);  /* behind that: there is a file of them */
bool symbols_have_news(const struct symbols *symbols); /* answers that are not kept yet. */
/* Keeps what was asked. 0 or an errno value. */
int symbols_keep(struct symbols *symbols, const struct profile_header *header, const char *measurement);
/* One line on modules whose files are not those measured any more, or whose split debug information is not there, malloc'ed;
 * NULL: there are none. */
char *symbols_changes(struct symbols *symbols);

#define SYMBOLS_PRODUCERS 16 /* at most, of one module */

/* The different DW_AT_producer of a module's units; their number. Texts live until symbols_close(). None: no file of the build that was measured, or
 * no debug information. */
size_t symbols_producers(struct symbols *symbols, uint32_t module_id, const char *producer[SYMBOLS_PRODUCERS]);

#endif
