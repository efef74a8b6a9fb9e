/* Built without call frame information, with and without frame pointers: paths through such code, in C and in
 * assembler, are whole all the same. */
#include "analytic.h"

unsigned long by_hand(unsigned long rounds);

/* rbp is a number here, and the frame changes in the middle. */
__asm__(".text\n.globl by_hand\n.type by_hand, @function\nby_hand:\n"
        "    push %rbp\n    push %rbx\n    mov %rdi, %rbp\n    xor %eax, %eax\n"
        "1:  sub $40, %rsp\n    mov $100, %ebx\n"
        "2:  add %rbx, %rax\n    dec %ebx\n    jnz 2b\n"
        "    add $40, %rsp\n    dec %rbp\n    jnz 1b\n"
        "    pop %rbx\n    pop %rbp\n    ret\n.size by_hand, .-by_hand\n");

NAMED static unsigned long leaf(unsigned long rounds)
{
    double sum = 0;
    for (unsigned long i = 1; i < rounds; i++) {
        sum += 1.0 / (double)(i * i);
        __asm__ volatile("" : "+x"(sum));
    }
    return sum > 1;
}

NAMED static unsigned long middle(unsigned long rounds, int size)
{
    volatile char varied[size];
    varied[size - 1] = 1;
    unsigned long result = leaf(rounds) + by_hand(rounds / 50);
    return result + (unsigned long)varied[size - 1];
}

NAMED static void repeat(int passes)
{
    unsigned long sum = 0;
    for (int size = 1; size <= passes; size++)
        sum += middle(10000, size % 500 + 1);
    if (sum == 0)
        exit(3);
}

int main(void)
{
    repeat(2000);
#pragma omp parallel num_threads(2)
    repeat(4000);
    return 0;
}
