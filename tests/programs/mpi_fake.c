/* As a library (LIBRARY), an MPI whose functions only note what they were called with. As a program, one that calls every function of
 * base/mpi_calls.h with parameters that fill their words (in Fortran addresses), and prints how many calls came through as they were made. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>

#include "base/mpi_calls.h"

#define MOST 13

extern uint64_t fake_parameter[MOST];
extern unsigned fake_count, fake_errno;

#define NUMBERED(number, count) (0x1111111111111111ull * ((count) % 5 + 1) + (number) * 0x0123456789abcdefull)
#define RESULT(count)           (0x7654321076543210ull + (count))

#define P0  void
#define P1  uint64_t a1
#define P2  P1, uint64_t a2
#define P3  P2, uint64_t a3
#define P4  P3, uint64_t a4
#define P5  P4, uint64_t a5
#define P6  P5, uint64_t a6
#define P7  P6, uint64_t a7
#define P8  P7, uint64_t a8
#define P9  P8, uint64_t a9
#define P10 P9, uint64_t a10
#define P11 P10, uint64_t a11
#define P12 P11, uint64_t a12
#define P13 P12, uint64_t a13

#ifdef LIBRARY
uint64_t fake_parameter[MOST];
unsigned fake_count, fake_errno;

#define N0
#define N1  fake_parameter[0] = a1;
#define N2  N1 fake_parameter[1] = a2;
#define N3  N2 fake_parameter[2] = a3;
#define N4  N3 fake_parameter[3] = a4;
#define N5  N4 fake_parameter[4] = a5;
#define N6  N5 fake_parameter[5] = a6;
#define N7  N6 fake_parameter[6] = a7;
#define N8  N7 fake_parameter[7] = a8;
#define N9  N8 fake_parameter[8] = a9;
#define N10 N9 fake_parameter[9] = a10;
#define N11 N10 fake_parameter[10] = a11;
#define N12 N11 fake_parameter[11] = a12;
#define N13 N12 fake_parameter[12] = a13;

#define FUNCTION(name, count, is_fortran)                                                                              \
    uint64_t name(P##count);                                                                                           \
    uint64_t name(P##count)                                                                                            \
    {                                                                                                                  \
        N##count fake_count = (count);                                                                                 \
        fake_errno = (unsigned)errno;                                                                                  \
        errno = 1000 + (count);                                                                                        \
        return RESULT(count);                                                                                          \
    }
#else
/* Fortran's parameters are addresses; that of its error is one of an error. */
static int words[MOST + 1];
#define V(number, c) parameter(number, c)
#define A0(c)
#define A1(c)  V(1, c)
#define A2(c)  A1(c), V(2, c)
#define A3(c)  A2(c), V(3, c)
#define A4(c)  A3(c), V(4, c)
#define A5(c)  A4(c), V(5, c)
#define A6(c)  A5(c), V(6, c)
#define A7(c)  A6(c), V(7, c)
#define A8(c)  A7(c), V(8, c)
#define A9(c)  A8(c), V(9, c)
#define A10(c) A9(c), V(10, c)
#define A11(c) A10(c), V(11, c)
#define A12(c) A11(c), V(12, c)
#define A13(c) A12(c), V(13, c)

static int calls, wrong;

static __attribute__((noinline)) uint64_t parameter(unsigned number, int is_fortran)
{
    return is_fortran ? (uint64_t)(uintptr_t)&words[number] : NUMBERED(number, calls);
}

static __attribute__((noinline)) void check(const char *name, unsigned count, int is_fortran, uint64_t result)
{
    int error = errno;
    unsigned same = 0;
    while (same < count && fake_parameter[same] == parameter(same + 1, is_fortran))
        same++;
    calls++;
    if (same == count && fake_count == count && fake_errno == 500 + count && error == (int)(1000 + count) &&
        result == RESULT(count))
        return;
    wrong++;
    printf("%s: %u of %u parameters, of %u, errno %u and %d, result %llx\n", name, same, count, fake_count, fake_errno,
           error, (unsigned long long)result);
}

#define FUNCTION(name, count, is_fortran)                                                                              \
    uint64_t name(P##count);                                                                                           \
    static void call_##name(void)                                                                                      \
    {                                                                                                                  \
        errno = 500 + (count);                                                                                         \
        check(#name, count, is_fortran, name(A##count(is_fortran)));                                                   \
    }
#endif

#define CALL(name, fortran, in_c, in_fortran, ...)                                                                     \
    FUNCTION(MPI_##name, in_c, 0)                                                                                      \
    FUNCTION(mpi_##fortran##_, in_fortran, 1)                                                                          \
    FUNCTION(mpi_##fortran##_f08_, in_fortran, 1)
#define BUFFERED(name, fortran, in_c, in_fortran, ...)                                                                 \
    CALL(name, fortran, in_c, in_fortran, )                                                                            \
    FUNCTION(MPI_##name##_c, in_c, 0)                                                                                  \
    FUNCTION(mpi_##fortran##_f08ts_, in_fortran, 1)

MPI_CALLS(CALL, BUFFERED)

#ifndef LIBRARY
#undef CALL
#undef BUFFERED
#define CALL(name, fortran, ...)     call_MPI_##name(), call_mpi_##fortran##_(), call_mpi_##fortran##_f08_();
#define BUFFERED(name, fortran, ...) CALL(name, fortran, ) call_MPI_##name##_c(), call_mpi_##fortran##_f08ts_();

int main(void)
{
    int threads = 0;
    for (int i = 0; i <= MOST; i++)
        words[i] = 1;
#pragma omp parallel reduction(+ : threads)
    threads++;
    MPI_CALLS(CALL, BUFFERED)
    printf("%d calls, %d wrong%s\n", calls, wrong, threads ? "" : "!");
    return 3;
}
#endif
