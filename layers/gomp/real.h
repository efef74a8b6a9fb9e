/* The functions of the real libgomp. */
#ifndef BLAME_LAYERS_GOMP_REAL_H
#define BLAME_LAYERS_GOMP_REAL_H

#include "layers/gomp/functions.h"

#define REAL_FIELD(name, version, result, parameters) result(*name) parameters;
#define REAL_START(name, version, kind)               bool (*name)(ITERATIONS, long chunk, CHUNK);
#define REAL_RUNTIME_START(name, version, kind)       bool (*name)(ITERATIONS, CHUNK);
#define REAL_NEXT(name, version, kind)                bool (*name)(CHUNK);
#define REAL_ULL_START(name, version, kind)           bool (*name)(UP_AND_ITERATIONS, ull chunk, ULL_CHUNK);
#define REAL_ULL_RUNTIME_START(name, version, kind)   bool (*name)(UP_AND_ITERATIONS, ULL_CHUNK);
#define REAL_ULL_NEXT(name, version, kind)            bool (*name)(ULL_CHUNK);
#define REAL_LOCKS(name, result)                                                                                       \
    result (*name##_10)(void *lock);                                                                                   \
    result (*name##_30)(void *lock);                                                                                   \
    result (*name##_fortran_10)(void *lock);                                                                           \
    result (*name##_fortran_30)(void *lock);

/* Filled by real_find_all(). A function that libgomp lacks is one that says so and aborts. */
extern __attribute__((visibility("hidden"))) struct real {
    GOMP_FUNCTIONS(REAL_FIELD)
    GOMP_LOOP_STARTS(REAL_START)
    GOMP_RUNTIME_LOOP_STARTS(REAL_RUNTIME_START)
    GOMP_LOOP_NEXTS(REAL_NEXT)
    GOMP_ULL_LOOP_STARTS(REAL_ULL_START)
    GOMP_ULL_RUNTIME_LOOP_STARTS(REAL_ULL_RUNTIME_START)
    GOMP_ULL_LOOP_NEXTS(REAL_ULL_NEXT)
    GOMP_LOCK_FUNCTIONS(REAL_LOCKS)
} real;

/* OMP_CANCELLATION */
extern __attribute__((visibility("hidden"))) bool real_cancellation;

/* Returns the function of the real libgomp with that name and version; NULL if it has none, or if there is no
 * libgomp yet. This is the only place that knows how the real library is found. [init] */
void *gomp_real(const char *name, const char *version);

/* Returns true if LLVM's runtime bears libgomp's name, as in conda: it has a tool interface of its own. [init] */
bool real_has_interface(void);

/* Ends the process, which calls a function that its libgomp lacks. [any] */
__attribute__((noreturn, cold)) void real_lacks(const char *name);

/* Returns true if a loader gave us the real library, as blame run does. [init] */
bool real_is_given(void);

/* Returns true if the library has the functions by which the provider asks about teams. [init] */
bool real_is_whole(void);

/* Prints a line, unless nobody reads it: then the program must not wait for a reader. [any] */
void real_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Fills `real`. Returns false if the process has no libgomp yet. [init] */
bool real_find_all(void);

#endif
