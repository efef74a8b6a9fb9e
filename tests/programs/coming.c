/* Built for coming_libgomp.c. */
#include <stdio.h>

void GOMP_coming(void);

int main(void)
{
#pragma omp parallel
    GOMP_coming();
    puts("done");
    return 0;
}
