/* Has a name of MemorySanitizer's, as a program of clang's -fsanitize=memory has. */
#include <stdio.h>
#include <stdlib.h>

void __msan_init(void);

void __msan_init(void)
{
}

int main(void)
{
    int sum = 0;
#pragma omp parallel num_threads(2) reduction(+ : sum)
    sum++;
    printf("%d, %s\n", sum, getenv("LD_AUDIT") ? "beside an audit library" : "alone");
    return 0;
}
