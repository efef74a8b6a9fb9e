/* A program whose taskwait with depend clauses is in a library that it loads when the tool has started. argv[1]: the library. */
#include <dlfcn.h>
#include <stdio.h>

static volatile int begun;

int main(int argc, char **argv)
{
#pragma omp parallel num_threads(2)
    begun = 1;
    void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    void (*await_child)(double) = library ? (void (*)(double))dlsym(library, "await_child") : NULL;
    if (!await_child) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    await_child(0.01);
    await_child(0.4);
    return 0;
}
