/* Functions that compilers call on their own, even without a C library: GCC 16 for large initialisers. */
#include <stddef.h>

void *memset(void *to, int value, size_t count);
void *memcpy(void *restrict to, const void *restrict from, size_t count);

void *memset(void *to, int value, size_t count)
{
    unsigned char *bytes = to;
    for (size_t i = 0; i < count; i++)
        bytes[i] = (unsigned char)value;
    return to;
}

void *memcpy(void *restrict to, const void *restrict from, size_t count)
{
    unsigned char *bytes = to;
    const unsigned char *source = from;
    for (size_t i = 0; i < count; i++)
        bytes[i] = source[i];
    return to;
}
