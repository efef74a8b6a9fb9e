/* Prints what the processor says that it is called. The kernel may call it otherwise, on a virtual machine. */
#include <cpuid.h>
#include <stdio.h>

int main(void)
{
    unsigned text[13] = {0};
    for (unsigned i = 0; i < 3; i++)
        __cpuid(0x80000002u + i, text[4 * i], text[4 * i + 1], text[4 * i + 2], text[4 * i + 3]);
    puts((const char *)text);
}
