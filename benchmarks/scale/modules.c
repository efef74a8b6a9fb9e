/* The load map and the walk, by the number of loaded modules. Prints `modules phase value` a line; phases:
 *   read us      reading the load map at the start
 *   refresh us   reading it again after one more module was loaded, all at once
 *   learn us     learning of that one module alone, as a sample does that meets its code
 *   cold us      a first walk through 20 modules that were never walked before
 *   walk ns      the same walk again, a frame
 * Usage: modules DIR COUNT; DIR/module-0.so ... are there, two more than COUNT */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "unwind/loadmap.h"
#include "unwind/unwind.h"

#define DEPTH 20
#define WALKS 2000

typedef void (*module_call)(void (*next)(void *), void *argument);

static struct unwinder unwinder;
static module_call *calls;
static int module_count;

static void print(const char *phase, double value)
{
    printf("%d %s %.3f\n", module_count, phase, value);
}

static module_call load(const char *dir, int number)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/module-%d.so", dir, number);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    module_call call = library ? (module_call)dlsym(library, "scale_module_call") : NULL;
    if (!call) {
        fprintf(stderr, "modules: %s\n", dlerror());
        exit(1);
    }
    return call;
}

static int walk(void)
{
    struct unwind_frame frame;
    int frames = 0;
    unwinder_start_here(&unwinder);
    while (unwinder_next(&unwinder, &frame) == UNWIND_FRAME)
        frames++;
    return frames;
}

static void measure_walk(void)
{
    uint64_t begin_ns = clock_now_ns();
    int frames = walk();
    print("cold us", (double)(clock_now_ns() - begin_ns) / 1e3);
    begin_ns = clock_now_ns();
    for (int i = 0; i < WALKS; i++)
        if (walk() != frames)
            exit((fputs("modules: walks differ\n", stderr), 1));
    print("walk ns", (double)(clock_now_ns() - begin_ns) / WALKS / frames);
}

/* Through modules that are far apart in the list of all. */
static void go_down(void *argument)
{
    int left = *(int *)argument;
    if (left == 0) {
        measure_walk();
        return;
    }
    int next = left - 1;
    calls[(long)next * (module_count - 1) / DEPTH](go_down, &next);
    __asm__ volatile("" ::: "memory");
}

int main(int argc, char **argv)
{
    int depth = DEPTH;
    module_count = argc == 3 ? atoi(argv[2]) : 0;
    if (module_count < 1)
        return fputs("usage: modules DIR COUNT\n", stderr), 2;
    calls = calloc((size_t)module_count, sizeof(*calls));
    for (int i = 0; calls && i < module_count; i++)
        calls[i] = load(argv[1], i);
    uint64_t begin_ns = clock_now_ns();
    if (!calls || !loadmap_init() || !unwinder_init(&unwinder))
        return fputs("modules: no memory\n", stderr), 1;
    print("read us", (double)(clock_now_ns() - begin_ns) / 1e3);
    unwinder_attach(&unwinder);
    load(argv[1], module_count);
    begin_ns = clock_now_ns();
    loadmap_refresh();
    print("refresh us", (double)(clock_now_ns() - begin_ns) / 1e3);
    module_call fresh = load(argv[1], module_count + 1);
    begin_ns = clock_now_ns();
    if (!loadmap_learn((uintptr_t)fresh))
        return fputs("modules: a library is not found\n", stderr), 1;
    print("learn us", (double)(clock_now_ns() - begin_ns) / 1e3);
    go_down(&depth);
    return 0;
}
