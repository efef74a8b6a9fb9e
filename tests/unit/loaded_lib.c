/* What test_loadmap.c and test_unwind_edges.c load and unload: a frame between a caller and what it calls
 * back. */
#ifndef ADDED
#define ADDED 1
#endif

int loaded_call(int (*callback)(void *), void *argument);

__attribute__((noinline)) int loaded_call(int (*callback)(void *), void *argument)
{
    volatile int frame[16];
    frame[0] = callback(argument);
    return frame[0] + ADDED;
}
