/* libblame-mpi.so: defines the MPI functions that can wait for other ranks. The program's calls reach these
 * functions before those of the MPI library. Each function reports its start and end to libblame.so, if that
 * is loaded, and calls the next function of the same name. The library is built without MPI headers. MPI's
 * handles may be numbers or pointers; we treat all parameters as words of the calling convention and pass
 * them on unchanged. So one library works with every MPI, in C and Fortran.
 *
 * The program may call MPI from anywhere, so nothing here allocates memory, prints, or changes errno. */
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>

#include "base/atomics.h"
#include "base/float_state.h"
#include "base/mpi_calls.h"
#include "base/mpi_layer.h"

#define EXPORT __attribute__((visibility("default")))

/* an MPI error code, which is returned if no library defines the function that the program called */
#define NO_SUCH_FUNCTION 1

typedef long word;
typedef void (*function)(void);

static const struct mpi_tool *attached;

EXPORT void blame_mpi_attach(const struct mpi_tool *tool);
void blame_mpi_attach(const struct mpi_tool *tool)
{
    if (!tool || tool->bytes >= MPI_LAYER_LEAST)
        store_release(&attached, tool);
}

static word no_such_mpi_function(void)
{
    return NO_SUCH_FUNCTION;
}

/* Returns the function that would be called if this library did not exist. Normally it is the next one in the
 * order of the program's libraries. If MPI was loaded later (without RTLD_GLOBAL), it is the one that the
 * caller's own library finds. */
static __attribute__((noinline, cold)) function find_next_mpi_function(const char *name, const void *caller)
{
    function next = (function)dlsym(RTLD_NEXT, name);
    Dl_info user;
    if (!next && dladdr(caller, &user) && user.dli_fname) {
        void *library = dlopen(user.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
        next = library ? (function)dlsym(library, name) : NULL;
    }
    return next ? next : (function)no_such_mpi_function;
}

/* The question that ask_mpi() asks about a handle. IN_FORTRAN is added if the handle comes from Fortran. */
enum { RANKS = 0, BYTES = 2, IN_FORTRAN = 1 };

static word ask_mpi(int question, word handle, const void *caller)
{
    static const char *const names[] = {"PMPI_Comm_size", "pmpi_comm_size_", "PMPI_Type_size", "pmpi_type_size_"};
    static function functions[sizeof names / sizeof *names];
    function asked = load_relaxed(&functions[question]);
    int answer = 0, error = 0;
    if (!asked) {
        asked = find_next_mpi_function(names[question], caller);
        store_relaxed(&functions[question], asked);
    }
    if (question & IN_FORTRAN)
        ((void (*)(word, int *, int *))asked)(handle, &answer, &error);
    else
        error = ((int (*)(word, int *))asked)(handle, &answer);
    return error ? 0 : answer;
}

struct size {
    /* `large` is true if the count is not an int (functions with the suffix _c) */
    bool fortran, large;
    /* values of the call's parameters, or in Fortran the parameters' addresses; 0: none */
    word error, comm, count, type;
};

static __attribute__((noinline)) void pass_mpi_size(const struct mpi_tool *tool, word ranks, word count, word bytes)
{
    tool->size((uint32_t)ranks, (double)count * (double)bytes);
}

/* For a successful call in which samples were taken: reports the size of the communicator and the number of
 * bytes. Because the call succeeded, its handles are valid, and queries about them call no error handler. */
static __attribute__((noinline, cold)) void tell_mpi_size(const struct mpi_tool *tool, const uintptr_t *frame,
                                                          struct size size)
{
    int saved = errno, in = size.fortran ? IN_FORTRAN : 0;
    const void *caller = (const void *)frame[1];
    int failed = !size.fortran ? (int)size.error : size.error ? *(const int *)size.error : 0;
    if (failed || (!size.comm && !size.type))
        return;
    word count = !size.count ? 0 : size.fortran ? *(const int *)size.count : size.large ? size.count : (int)size.count;
    word ranks = size.comm ? ask_mpi(RANKS | in, size.comm, caller) : 0;
    word bytes = size.type ? ask_mpi(BYTES | in, size.type, caller) : 0;
    struct float_state floats = float_begin();
    pass_mpi_size(tool, ranks, count, bytes);
    float_end(floats);
    errno = saved;
}

/* The positions of two parameters: the rank for which a call waits, and its communicator. They are the same
 * in C and Fortran. */
struct peer_place {
    int rank, comm;
};

static inline struct peer_place mpi_peer_place_of(enum mpi_function function)
{
    switch (function) {
    case MPI_CALL_Send:
    case MPI_CALL_Ssend:
    case MPI_CALL_Rsend:
    case MPI_CALL_Recv:
        return (struct peer_place){4, 6};
    case MPI_CALL_Probe:
    case MPI_CALL_Mprobe:
        return (struct peer_place){1, 3};
    case MPI_CALL_Sendrecv:
        return (struct peer_place){9, 11};
    case MPI_CALL_Sendrecv_replace:
        return (struct peer_place){6, 8};
    default:
        return (struct peer_place){0, 0};
    }
}

/* The handle of MPI_COMM_WORLD in MPICH and all its descendants, in C and Fortran. In Open MPI, the handle is
 * the address of an object in C, and 0 in Fortran. */
#define MPICH_WORLD 0x44000000

static __attribute__((noinline, cold)) word find_mpi_world(const void *caller)
{
    word world = (word)dlsym(RTLD_DEFAULT, "ompi_mpi_comm_world");
    Dl_info user;
    if (!world && dladdr(caller, &user) && user.dli_fname) { /* MPI was loaded without RTLD_GLOBAL */
        void *library = dlopen(user.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
        world = library ? (word)dlsym(library, "ompi_mpi_comm_world") : 0;
    }
    return world ? world : MPICH_WORLD;
}

static inline bool is_mpi_world(bool fortran, word comm, const void *caller)
{
    static word world;
    word known = load_relaxed(&world);
    if (unlikely(!known)) {
        known = find_mpi_world(caller);
        store_relaxed(&world, known);
    }
    if (known == MPICH_WORLD)
        return (fortran ? *(const int *)comm : (int)comm) == MPICH_WORLD;
    return fortran ? *(const int *)comm == 0 : comm == known;
}

/* Reports the start of a call. A negative rank means "any source" or "no process"; no rank is then reported.
 * Returns true if the end of the call must be reported, too. */
static inline bool begin_mpi_call(const struct mpi_tool *tool, enum mpi_function function, bool fortran,
                                  const word *arguments, const uintptr_t *frame)
{
    struct peer_place place = mpi_peer_place_of(function);
    if (place.rank && tool->bytes >= sizeof(*tool)) {
        int rank = fortran ? *(const int *)arguments[place.rank] : (int)arguments[place.rank];
        if (rank >= 0 && is_mpi_world(fortran, arguments[place.comm], (const void *)frame[1]))
            return tool->begin_for(function, frame, (uint32_t)rank);
    }
    return tool->begin(function, frame);
}

/* Macros Pn and An give the first n parameters and the first n arguments of a function. */
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

/* Macros Ln give the initialisers of an array that has the n arguments from index 1 on. */
#define L0  0
#define L1  0, A1
#define L2  0, A2
#define L3  0, A3
#define L4  0, A4
#define L5  0, A5
#define L6  0, A6
#define L7  0, A7
#define L8  0, A8
#define L9  0, A9
#define L10 0, A10
#define L11 0, A11
#define L12 0, A12
#define L13 0, A13

/* Macro Wn gives argument number n, and En the argument after it, which is Fortran's error code. */
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

#define FUNCTION(call_number, fortran, name, count, ...)                                                               \
    EXPORT word name(P##count);                                                                                        \
    word name(P##count)                                                                                                \
    {                                                                                                                  \
        static word (*next)(P##count);                                                                                 \
        word (*called)(P##count) = load_relaxed(&next);                                                                \
        if (unlikely(!called)) {                                                                                       \
            called = (word(*)(P##count))find_next_mpi_function(#name, __builtin_return_address(0));                    \
            store_relaxed(&next, called);                                                                              \
        }                                                                                                              \
        const struct mpi_tool *tool = load_acquire(&attached);                                                         \
        const uintptr_t *frame = __builtin_frame_address(0);                                                           \
        if (unlikely(!tool) || !begin_mpi_call(tool, call_number, fortran, (const word[]){L##count}, frame))           \
            return called(A##count);                                                                                   \
        word result = called(A##count);                                                                                \
        if (unlikely(tool->end(frame)))                                                                                \
            tell_mpi_size(tool, frame, (struct size){__VA_ARGS__});                                                    \
        return result;                                                                                                 \
    }

#define SIZE_IN_C(large, comm, count, type)      false, large, result, W##comm, W##count, W##type
#define SIZE_IN_FORTRAN(in_c, comm, count, type) true, false, E##in_c, W##comm, W##count, W##type

/* Defines an MPI function for C, for Fortran with mpif.h and `use mpi`, and for Fortran with `use mpi_f08`. */
#define CALL(name, fortran, in_c, in_fortran, comm, count, type)                                                       \
    FUNCTION(MPI_CALL_##name, false, MPI_##name, in_c, SIZE_IN_C(false, comm, count, type))                            \
    FUNCTION(MPI_CALL_##name, true, mpi_##fortran##_, in_fortran, SIZE_IN_FORTRAN(in_c, comm, count, type))            \
    FUNCTION(MPI_CALL_##name, true, mpi_##fortran##_f08_, in_fortran, SIZE_IN_FORTRAN(in_c, comm, count, type))

/* Like CALL, for a function with buffers. Such a function also has a variant for large counts, and in MPICH
 * another name for mpi_f08. */
#define BUFFERED(name, fortran, in_c, in_fortran, comm, count, type)                                                   \
    CALL(name, fortran, in_c, in_fortran, comm, count, type)                                                           \
    FUNCTION(MPI_CALL_##name, false, MPI_##name##_c, in_c, SIZE_IN_C(true, comm, count, type))                         \
    FUNCTION(MPI_CALL_##name, true, mpi_##fortran##_f08ts_, in_fortran, SIZE_IN_FORTRAN(in_c, comm, count, type))

MPI_CALLS(CALL, BUFFERED)
