/* Finds libc's functions when the library is loaded. A wrapper may be called before: a neighbour's constructor may lock
 * a mutex. Then the functions are looked up at the first call of any of them. */
#include <dlfcn.h>
#include <errno.h>

#include "base/atomics.h"
#include "layers/pthreads/functions.h"

/* A program cannot call a function that its libc lacks, unless it has found ours. */
static int real_missing(void)
{
    return ENOSYS;
}

#define REAL_FIRST(type, name, parameters, arguments) static type first_##name parameters;
PTHREADS_FUNCTIONS(REAL_FIRST)

#define REAL_ENTRY(type, name, parameters, arguments) .name = first_##name,
struct pthreads_real pthreads_real = {PTHREADS_FUNCTIONS(REAL_ENTRY)};

/* The definition that the program would call without this library. */
static void *real_find(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    return found ? found : (void *)real_missing;
}

#define REAL_FIND(type, name, parameters, arguments)                                                                   \
    store_relaxed(&pthreads_real.name, (__typeof__(pthreads_real.name))real_find(#name));
__attribute__((constructor)) static void real_find_all(void){PTHREADS_FUNCTIONS(REAL_FIND)}

#define REAL_DEFINE(type, name, parameters, arguments)                                                                 \
    static type first_##name parameters                                                                                \
    {                                                                                                                  \
        real_find_all();                                                                                               \
        return pthreads_real.name arguments;                                                                           \
    }
PTHREADS_FUNCTIONS(REAL_DEFINE)
