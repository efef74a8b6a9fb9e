/* A libgomp of years to come: with an entry that today's libomp does not have, and the one that programs have always
 * used. Teams of one. */
#include <stddef.h>

void GOMP_parallel(void (*body)(void *), void *data, unsigned threads, unsigned flags);
void GOMP_coming(void);
int omp_get_thread_num(void);

void GOMP_parallel(void (*body)(void *), void *data, unsigned threads, unsigned flags)
{
    (void)threads, (void)flags;
    body(data);
}

void GOMP_coming(void)
{
}

int omp_get_thread_num(void)
{
    return 0;
}
