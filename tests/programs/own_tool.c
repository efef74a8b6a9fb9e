/* A program with an OpenMP tool of its own, as those that are linked with Caliper, APEX, TAU or Score-P. As a library: LIBRARY. */
struct result {
    int (*initialize)(void *lookup, int device, void *data);
    void (*finalize)(void *data);
    unsigned long data;
};

static int initialize(void *lookup, int device, void *data)
{
    (void)lookup, (void)device, (void)data;
    return 1;
}

static void finalize(void *data)
{
    (void)data;
}

struct result *ompt_start_tool(unsigned version, const char *runtime);

struct result *ompt_start_tool(unsigned version, const char *runtime)
{
    static struct result result = {initialize, finalize, 0};
    (void)version, (void)runtime;
    return &result;
}

#ifndef LIBRARY
int main(void)
{
    int threads = 0;
#pragma omp parallel num_threads(2) reduction(+ : threads)
    threads += 1;
    return threads != 2;
}
#endif
