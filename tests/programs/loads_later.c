/* A program without OpenMP of its own that loads libraries with it, as interpreters do. argv: the libraries, after
 * "taken" with a file of its own that has stderr's number, and after "exec" a program that takes its place. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "exec") == 0) {
            fflush(stdout);
            execv(argv[i + 1], argv + i + 1);
        }
        if (strcmp(argv[i], "taken") == 0) {
            close(2);
            if (open("two", O_RDWR | O_CREAT, 0600) != 2)
                return 125;
            continue;
        }
        void *library = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
        int (*sum_of_team)(void) = library ? (int (*)(void))dlsym(library, "sum_of_team") : NULL;
        if (!sum_of_team) {
            fprintf(stderr, "%s\n", dlerror());
            return 1;
        }
        printf("sum %d\n", sum_of_team());
    }
    return 0;
}
