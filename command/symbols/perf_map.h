/* Names of code that was compiled while the program ran, which no file has: its compiler writes them to /tmp/perf-PID.map, for perf, a line each of
 * address, size (both hexadecimal) and name. */
#ifndef BLAME_COMMAND_SYMBOLS_PERF_MAP_H
#define BLAME_COMMAND_SYMBOLS_PERF_MAP_H

#include <stdint.h>
#include <sys/types.h>

struct perf_map;

/* Anybody may write there: the file must be a regular one of the owner's, no link, written to since from_ns, when the process started, and until
 * until_s (both since the epoch). File systems may keep seconds only. NULL: there is none. */
struct perf_map *perf_map_read(const char *path, uid_t owner, int64_t from_ns, int64_t until_s);
void perf_map_free(struct perf_map *map);

/* What the last line that has the address calls it; NULL: none has. Lives as long as the map. */
const char *perf_map_name(const struct perf_map *map, uint64_t address);

#endif
