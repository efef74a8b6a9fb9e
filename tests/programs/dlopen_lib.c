/* What dlopen_loop.c and library_tour.c load and unload: a few frames of its own, so that paths run through the
 * mapping that goes away. */
#ifndef CHURN
#define CHURN churn
#endif

__attribute__((noinline)) static unsigned long CHURN(unsigned long state)
{
    for (int i = 0; i < 20000; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
    }
    return state;
}

unsigned long plugin_work(unsigned long state);

unsigned long plugin_work(unsigned long state)
{
    for (int i = 0; i < 20; i++)
        state = CHURN(state) + 1;
    return state;
}
