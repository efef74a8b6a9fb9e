/* A library with a function that it does not export, NAME. */
static volatile double sink;

__attribute__((noinline)) static void NAME(long count)
{
    for (long i = 0; i < count; i++)
        sink = sink * 1.0000001 + 1;
}

void kernel(long count)
{
    for (int i = 0; i < 8; i++)
        NAME(count);
}
