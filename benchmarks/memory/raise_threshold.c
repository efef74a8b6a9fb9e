/* Preloaded, the positive control: what other tools do without meaning to. One large block, allocated and
 * freed before main, raises glibc's mmap threshold to 30 MiB and its trim threshold to 60 MiB for the rest of
 * the run. */
#include <stdlib.h>

__attribute__((constructor)) static void raise_threshold(void)
{
    void *block = malloc((size_t)30 << 20);
    __asm__ volatile("" : "+r"(block)); /* a block that nobody uses would be left out */
    free(block);
}
