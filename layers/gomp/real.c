/* Finds the real libgomp, and fills the table of its functions. */
#include "layers/gomp/real.h"

#include <dlfcn.h>
#include <omp-tools.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct real real;
bool real_cancellation;

/* The name under which a loader gives us the real library as a dependency of our own. */
#define PRIVATE_NAME "libblame-real-gomp.so.1"

/* If the program was started with LD_PRELOAD, the real library is the next one that has the function. A library
 * that was loaded later, without RTLD_GLOBAL, is found by its name. */
void *gomp_real(const char *name, const char *version)
{
    static void *library;
    if (!library)
        library = dlopen(PRIVATE_NAME, RTLD_LAZY | RTLD_NOLOAD);
    void *found = library ? dlvsym(library, name, version) : dlvsym(RTLD_NEXT, name, version);
    if (found || library)
        return found;
    void *late =
        dlvsym(RTLD_NEXT, "GOMP_parallel_end", "GOMP_1.0") ? NULL : dlopen("libgomp.so.1", RTLD_LAZY | RTLD_NOLOAD);
    return late ? dlvsym(late, name, version) : NULL;
}

bool real_has_interface(void)
{
    Dl_info here, there;
    void *known = gomp_real("GOMP_parallel_end", "GOMP_1.0");
    void *library = known && dladdr(known, &here) ? dlopen(here.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    void *found = library ? dlsym(library, "__kmpc_fork_call") : NULL;
    if (library)
        dlclose(library);
    return found && dladdr(found, &there) && here.dli_fbase == there.dli_fbase;
}

/* The program would not have started, or would end here as well, without the provider. */
static __attribute__((noreturn, cold)) void real_lacks(const char *name)
{
    dprintf(STDERR_FILENO, "libblame-gomp: this process's libgomp has no %s, which the program calls\n", name);
    abort();
}

#define LACKS(name, ...)                                                                                               \
    static void lacks_##name(void)                                                                                     \
    {                                                                                                                  \
        real_lacks(#name);                                                                                             \
    }
GOMP_FUNCTIONS(LACKS)
GOMP_LOOP_STARTS(LACKS)
GOMP_RUNTIME_LOOP_STARTS(LACKS)
GOMP_LOOP_NEXTS(LACKS)
GOMP_ULL_LOOP_STARTS(LACKS)
GOMP_ULL_RUNTIME_LOOP_STARTS(LACKS)
GOMP_ULL_LOOP_NEXTS(LACKS)
GOMP_LOCK_FUNCTIONS(LACKS)

struct row {
    const char *name, *version;
    void (*lacks)(void);
    void (**place)(void);
};

#define PLACE(field)            (void (**)(void)) & real.field
#define ROW(name, version, ...) {#name, version, lacks_##name, PLACE(name)},
#define LOCK_ROWS(name, result)                                                                                        \
    {#name, "OMP_1.0", lacks_##name, PLACE(name##_10)}, {#name, "OMP_3.0", lacks_##name, PLACE(name##_30)},            \
        {#name "_", "OMP_1.0", lacks_##name, PLACE(name##_fortran_10)},                                                \
        {#name "_", "OMP_3.0", lacks_##name, PLACE(name##_fortran_30)},

static const struct row rows[] = {GOMP_FUNCTIONS(ROW)               /**/
                                  GOMP_LOOP_STARTS(ROW)             /**/
                                  GOMP_RUNTIME_LOOP_STARTS(ROW)     /**/
                                  GOMP_LOOP_NEXTS(ROW)              /**/
                                  GOMP_ULL_LOOP_STARTS(ROW)         /**/
                                  GOMP_ULL_RUNTIME_LOOP_STARTS(ROW) /**/
                                  GOMP_ULL_LOOP_NEXTS(ROW)          /**/
                                  GOMP_LOCK_FUNCTIONS(LOCK_ROWS)};

bool real_find_all(void)
{
    bool present = gomp_real("GOMP_parallel_end", "GOMP_1.0");
    for (const struct row *row = rows; row < rows + sizeof(rows) / sizeof(*rows); row++) {
        void *found = present ? gomp_real(row->name, row->version) : NULL;
        *row->place = row->lacks;
        if (found)
            memcpy(row->place, &found, sizeof(found));
    }
    real_cancellation = present && gomp_real("omp_get_cancellation", "OMP_4.0") && real.omp_get_cancellation();
    return present;
}
