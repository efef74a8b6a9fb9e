/* The smallest possible wrapper of MPI_Wait, to which libblame-mpi.so is compared. */
#include <dlfcn.h>

int MPI_Wait(void *request, void *status);
int MPI_Wait(void *request, void *status)
{
    static int (*next)(void *, void *);
    if (!next)
        next = (int (*)(void *, void *))dlsym(RTLD_NEXT, "MPI_Wait");
    return next(request, status);
}
