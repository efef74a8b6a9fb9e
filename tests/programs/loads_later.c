/* A program without OpenMP of its own that loads a library with it, as interpreters do. argv[1]: the library. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    int (*sum_of_team)(void) = library ? (int (*)(void))dlsym(library, "sum_of_team") : NULL;
    if (!sum_of_team) {
        fprintf(stderr, "%s\n", argc > 1 ? dlerror() : "usage: loads_later LIBRARY");
        return 1;
    }
    printf("sum %d\n", sum_of_team());
    return 0;
}
