/* Names of code that was compiled while the program ran, and that is in no file. Its compiler writes them to
 * /tmp/perf-PID.map for perf: one line for each function, with address, size (both hexadecimal) and name. */
#ifndef BLAME_COMMAND_SYMBOLS_PERF_MAP_H
#define BLAME_COMMAND_SYMBOLS_PERF_MAP_H

#include <stdint.h>
#include <sys/types.h>

struct perf_map;

/* Reads a map. Anyone can write to /tmp, so the file must be a regular file of `owner` and not a link. Its
 * last modification must be between from_ns, the start of the process, and until_s (both since the epoch).
 * File systems may store whole seconds only. Returns NULL if there is no such file. */
struct perf_map *perf_map_read(const char *path, uid_t owner, int64_t from_ns, int64_t until_s);
void perf_map_free(struct perf_map *map);

/* Returns the name from the last line that contains the address; NULL if there is none. Valid until
 * perf_map_free(). */
const char *perf_map_name(const struct perf_map *map, uint64_t address);

#endif
