/* Starts the tool at the given path as libiomp5 of 2018 does, whose interface is older than OpenMP 5.0's: the tool's data is the second argument, and a
 * callback that was asked for is called, also where the tool has declined. With `same`, the register of a third argument happens to have the tool's
 * data, too; with `second`, another runtime was there before. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct result {
    int (*initialize)(void *(*lookup)(const char *), uint64_t *tool_data, uintptr_t whatever);
    void (*finalize)(uint64_t *tool_data);
    uint64_t tool_data;
};

static int asked;

static int set_callback(int event, void *callback)
{
    asked += callback && event;
    return 5;
}

static void *lookup(const char *name)
{
    return strcmp(name, "ompt_set_callback") == 0 ? (void *)set_callback : NULL;
}

int main(int argc, char **argv)
{
    void *tool = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
    struct result *(*start)(unsigned, const char *) =
        tool ? (struct result * (*)(unsigned, const char *)) dlsym(tool, "ompt_start_tool") : NULL;
    if (argc > 2 && strcmp(argv[2], "second") == 0) {
#pragma omp parallel num_threads(2)
        __asm__ volatile("");
    }
    struct result *result = start ? start(201611, "of 2018") : NULL;
    uintptr_t third = argc > 2 && strcmp(argv[2], "same") == 0 ? (uintptr_t)&result->tool_data : 0x7f00;
    int started = result ? result->initialize(lookup, &result->tool_data, third) : -1;
    printf("started %d, asked for %d\n", started, asked);
    return 0;
}
