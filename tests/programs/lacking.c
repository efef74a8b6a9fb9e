/* Built by a clang of years to come, for a libomp with entries that today's does not have (lacking_libomp.c): without
 * arguments nothing of them is called. */
#include <stdio.h>

void __kmpc_coming(void);
void __kmpc_coming_too(void);
void kmp_may_come(void) __attribute__((weak));

int main(int argc, char **argv)
{
    (void)argv;
#pragma omp parallel
    if (argc > 1) {
        __kmpc_coming();
        __kmpc_coming_too();
    }
    if (kmp_may_come)
        kmp_may_come();
    puts("done");
    return 3;
}
