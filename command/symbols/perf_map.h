/* Names of code that was compiled while the program ran, and that therefore is in no file. Its compiler
 * writes the names for perf, to the map /tmp/perf-PID.map. Each line describes a function by its address, its
 * size (both hexadecimal) and its name. */
#ifndef BLAME_COMMAND_SYMBOLS_PERF_MAP_H
#define BLAME_COMMAND_SYMBOLS_PERF_MAP_H

#include <stdint.h>
#include <sys/types.h>

struct perf_map;

/* Reads a map. Anyone can write to /tmp, so the map must be a regular file, not a link, and must belong to
 * `owner`. It must have been modified last between from_ns, the start of the process, and until_s, both since
 * the epoch. Times are compared in whole seconds, because some file systems store no more. Returns NULL if
 * there is no such file. */
struct perf_map *symbols_perf_map_read(const char *path, uid_t owner, int64_t from_ns, int64_t until_s);
void symbols_perf_map_free(struct perf_map *map);

/* Returns the name in the last line that contains the address, or NULL if there is no such line. The name is
 * valid until symbols_perf_map_free(). */
const char *symbols_perf_map_name(const struct perf_map *map, uint64_t address);

#endif
