/* libblame-mpi.so: functions of MPI's that may wait for other ranks, in front of the program's MPI. Each tells the tool when it
 * begins and ends, if there is one, and calls the next function of its name. Built without an MPI: whatever handles are, numbers
 * or pointers, all parameters are words of the calling convention, and are passed on as they came. So one library serves every MPI,
 * in C and in Fortran.
 *
 * The program's MPI may be called from anywhere: nothing here allocates, prints, or changes errno. */
#include <dlfcn.h>
#include <stddef.h>

#include "base/atomics.h"
#include "base/mpi_calls.h"
#include "base/mpi_layer.h"

#define EXPORT __attribute__((visibility("default")))

/* An MPI's error, whichever: a function that exists nowhere was called all the same. */
#define NO_SUCH_FUNCTION 1

typedef long word;
typedef void (*function)(void);

static const struct mpi_tool *attached;

EXPORT void blame_mpi_attach(const struct mpi_tool *tool);
void blame_mpi_attach(const struct mpi_tool *tool)
{
    if (!tool || tool->bytes >= sizeof(*tool))
        store_release(&attached, tool);
}

static word no_such_function(void)
{
    return NO_SUCH_FUNCTION;
}

/* What would have been called without this library: behind it in the order of the program's libraries or, of an MPI that was loaded
 * later and for its user alone, what that user finds. */
static __attribute__((noinline, cold)) function find_next(const char *name, const void *caller)
{
    function next = (function)dlsym(RTLD_NEXT, name);
    Dl_info user;
    if (!next && dladdr(caller, &user) && user.dli_fname) {
        void *library = dlopen(user.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
        next = library ? (function)dlsym(library, name) : NULL;
    }
    return next ? next : (function)no_such_function;
}

/* Parameters and arguments, by their number. */
#define P0  void
#define P1  word a1
#define P2  P1, word a2
#define P3  P2, word a3
#define P4  P3, word a4
#define P5  P4, word a5
#define P6  P5, word a6
#define P7  P6, word a7
#define P8  P7, word a8
#define P9  P8, word a9
#define P10 P9, word a10
#define P11 P10, word a11
#define P12 P11, word a12
#define P13 P12, word a13
#define A0
#define A1  a1
#define A2  A1, a2
#define A3  A2, a3
#define A4  A3, a4
#define A5  A4, a5
#define A6  A5, a6
#define A7  A6, a7
#define A8  A7, a8
#define A9  A8, a9
#define A10 A9, a10
#define A11 A10, a11
#define A12 A11, a12
#define A13 A12, a13

#define FUNCTION(call_number, name, count)                                                                   \
    EXPORT word name(P##count);                                                                              \
    word name(P##count)                                                                                      \
    {                                                                                                        \
        static word (*next)(P##count);                                                                       \
        word (*called)(P##count) = load_relaxed(&next);                                                      \
        if (unlikely(!called)) {                                                                             \
            called = (word(*)(P##count))find_next(#name, __builtin_return_address(0));                       \
            store_relaxed(&next, called);                                                                    \
        }                                                                                                    \
        const struct mpi_tool *tool = load_acquire(&attached);                                               \
        struct mpi_call call = {.number = (call_number), .frame = __builtin_frame_address(0)};               \
        if (unlikely(!tool) || !tool->begin(&call))                                                          \
            return called(A##count);                                                                         \
        word result = called(A##count);                                                                      \
        tool->end(&call);                                                                                    \
        return result;                                                                                       \
    }

/* In C; in Fortran by mpif.h and `use mpi`, and by `use mpi_f08`. */
#define CALL(name, fortran, in_c, in_fortran, ...)                                                           \
    FUNCTION(MPI_CALL_##name, MPI_##name, in_c)                                                              \
    FUNCTION(MPI_CALL_##name, mpi_##fortran##_, in_fortran)                                                  \
    FUNCTION(MPI_CALL_##name, mpi_##fortran##_f08_, in_fortran)

/* And what takes counts beyond an int, and MPICH's mpi_f08 of what takes buffers. */
#define BUFFERED(name, fortran, in_c, in_fortran, ...)                                                       \
    CALL(name, fortran, in_c, in_fortran, )                                                                  \
    FUNCTION(MPI_CALL_##name, MPI_##name##_c, in_c)                                                          \
    FUNCTION(MPI_CALL_##name, mpi_##fortran##_f08ts_, in_fortran)

MPI_CALLS(CALL, BUFFERED)
