/* libblame-mpi.so: functions of MPI's that may wait for other ranks, in front of the program's MPI. Each tells the tool when it
 * begins and ends, if there is one, and calls the next function of its name. Built without an MPI: whatever handles are, numbers
 * or pointers, all parameters are words of the calling convention, and are passed on as they came. So one library serves every MPI,
 * in C and in Fortran.
 *
 * The program's MPI may be called from anywhere: nothing here allocates, prints, or changes errno. */
#include <dlfcn.h>
#include <errno.h>
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

/* What MPI says of its handles, in C and in Fortran. */
enum { RANKS = 0, BYTES = 2, IN_FORTRAN = 1 };

static word ask(int question, word handle, const void *caller)
{
    static const char *const names[] = {"PMPI_Comm_size", "pmpi_comm_size_", "PMPI_Type_size",
                                        "pmpi_type_size_"};
    static function functions[sizeof names / sizeof *names];
    function asked = load_relaxed(&functions[question]);
    int answer = 0, error = 0;
    if (!asked) {
        asked = find_next(names[question], caller);
        store_relaxed(&functions[question], asked);
    }
    if (question & IN_FORTRAN)
        ((void (*)(word, int *, int *))asked)(handle, &answer, &error);
    else
        error = ((int (*)(word, int *))asked)(handle, &answer);
    return error ? 0 : answer;
}

struct size {
    bool fortran, large;           /* large: the count is no int */
    word error, comm, count, type; /* of Fortran their addresses; 0: there is none */
};

/* Of a call that samples hit, and that did well: so its handles are good, and no error handler is called for them. */
static __attribute__((noinline, cold)) void tell_size(const struct mpi_tool *tool, const uintptr_t *frame,
                                                      struct size size)
{
    int saved = errno, in = size.fortran ? IN_FORTRAN : 0;
    const void *caller = (const void *)frame[1];
    int failed = !size.fortran ? (int)size.error : size.error ? *(const int *)size.error : 0;
    if (failed || (!size.comm && !size.type))
        return;
    word count = !size.count    ? 0
                 : size.fortran ? *(const int *)size.count
                 : size.large   ? size.count
                                : (int)size.count;
    word ranks = size.comm ? ask(RANKS | in, size.comm, caller) : 0;
    word bytes = size.type ? ask(BYTES | in, size.type, caller) : 0;
    tool->size((uint32_t)ranks, (double)count * (double)bytes);
    errno = saved;
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

/* The parameter of that number; and the one behind it, Fortran's error. */
#define W0  0
#define W1  a1
#define W2  a2
#define W3  a3
#define W4  a4
#define W5  a5
#define W6  a6
#define W7  a7
#define W8  a8
#define W9  a9
#define W10 a10
#define W11 a11
#define W12 a12
#define W13 a13
#define E0  W1
#define E1  W2
#define E2  W3
#define E3  W4
#define E4  W5
#define E5  W6
#define E6  W7
#define E7  W8
#define E8  W9
#define E9  W10
#define E10 W11
#define E11 W12
#define E12 W13

#define FUNCTION(call_number, name, count, ...)                                                              \
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
        const uintptr_t *frame = __builtin_frame_address(0);                                                 \
        if (unlikely(!tool) || !tool->begin(call_number, frame))                                             \
            return called(A##count);                                                                         \
        word result = called(A##count);                                                                      \
        if (unlikely(tool->end(frame)))                                                                      \
            tell_size(tool, frame, (struct size){__VA_ARGS__});                                              \
        return result;                                                                                       \
    }

#define SIZE_IN_C(large, comm, count, type)      false, large, result, W##comm, W##count, W##type
#define SIZE_IN_FORTRAN(in_c, comm, count, type) true, false, E##in_c, W##comm, W##count, W##type

/* In C; in Fortran by mpif.h and `use mpi`, and by `use mpi_f08`. */
#define CALL(name, fortran, in_c, in_fortran, comm, count, type)                                             \
    FUNCTION(MPI_CALL_##name, MPI_##name, in_c, SIZE_IN_C(false, comm, count, type))                         \
    FUNCTION(MPI_CALL_##name, mpi_##fortran##_, in_fortran, SIZE_IN_FORTRAN(in_c, comm, count, type))        \
    FUNCTION(MPI_CALL_##name, mpi_##fortran##_f08_, in_fortran, SIZE_IN_FORTRAN(in_c, comm, count, type))

/* And what takes counts beyond an int, and MPICH's mpi_f08 of what takes buffers. */
#define BUFFERED(name, fortran, in_c, in_fortran, comm, count, type)                                         \
    CALL(name, fortran, in_c, in_fortran, comm, count, type)                                                 \
    FUNCTION(MPI_CALL_##name, MPI_##name##_c, in_c, SIZE_IN_C(true, comm, count, type))                      \
    FUNCTION(MPI_CALL_##name, mpi_##fortran##_f08ts_, in_fortran, SIZE_IN_FORTRAN(in_c, comm, count, type))

MPI_CALLS(CALL, BUFFERED)
