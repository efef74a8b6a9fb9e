/* Calls in a region what has no file, or another one, when the program ends: a library that is unlinked behind dlopen, one that another
 * replaces, and one of a memfd, whose descriptor is closed. Arguments: the libraries. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void copy(int to, const char *path)
{
    char buffer[65536];
    ssize_t got;
    int from = open(path, O_RDONLY);
    while ((got = read(from, buffer, sizeof(buffer))) > 0)
        if (write(to, buffer, (size_t)got) != got)
            abort();
    close(from);
}

static void copy_file(const char *to, const char *path)
{
    int fd = open("made.tmp", O_WRONLY | O_CREAT | O_TRUNC, 0700);
    copy(fd, path);
    close(fd);
    rename("made.tmp", to);
}

static void run(const char *path, int descriptor, int unlinked)
{
    void *library = dlopen(path, RTLD_NOW);
    void (*kernel)(long) = library ? (void (*)(long))dlsym(library, "kernel") : NULL;
    if (!kernel) {
        puts(dlerror());
        exit(1);
    }
    if (unlinked)
        unlink(path);
    if (descriptor >= 0)
        close(descriptor);
#pragma omp parallel num_threads(2)
    kernel(2000000);
    if (descriptor < 0)
        dlclose(library);
}

int main(int argc, char **argv)
{
    char path[64];
    if (argc < 5)
        return 2;
    copy_file("./unlinked.so", argv[1]);
    run("./unlinked.so", -1, 1);
    copy_file("./replaced.so", argv[2]);
    run("./replaced.so", -1, 0);
    copy_file("./replaced.so", argv[3]);
    run("./replaced.so", -1, 0);
    int descriptor = memfd_create("kernel", 0);
    copy(descriptor, argv[4]);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", descriptor);
    run(path, descriptor, 0);
    puts("done");
    return 0;
}
