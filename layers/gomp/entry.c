/* The life of the library. */
#include "layers/gomp/provider.h"
#include "layers/gomp/real.h"

/* Only where there is a libgomp: else the first call starts the provider. */
static __attribute__((constructor)) void entry_construct(void)
{
    if (gomp_real("GOMP_parallel_end", "GOMP_1.0") && handshake_has_tool())
        thread_attach(ompt_thread_initial);
}

static __attribute__((destructor)) void entry_destruct(void)
{
    handshake_finalize();
    real_warn_of_copies();
}
