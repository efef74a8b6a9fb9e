/* The life of the library. */
#include <dlfcn.h>

#include "layers/gomp/provider.h"
#include "layers/gomp/real.h"

/* The first call starts the provider if there is no libgomp yet, or if the tool is in the program, whose constructors
 * have not run yet. */
static __attribute__((constructor)) void entry_construct(void)
{
    if (!real_is_given() && dlsym(RTLD_DEFAULT, "ompt_start_tool"))
        return;
    if (gomp_real("GOMP_parallel_end", "GOMP_1.0") && handshake_has_tool())
        thread_attach(ompt_thread_initial);
}

static __attribute__((destructor)) void entry_destruct(void)
{
    handshake_finalize();
}
