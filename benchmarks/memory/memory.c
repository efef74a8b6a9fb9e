/* A kernel that asks of malloc what LULESH asks: arrays that are allocated, first touched in parallel,
 * computed with and freed in every iteration; and many small objects, so that the heap grows and shrinks.
 *
 * glibc maps an array of at least its mmap threshold (128 KiB at first) for itself. Freeing a mapped chunk
 * raises the threshold to that chunk's size, up to 32 MiB, and the trim threshold to twice that: from then on
 * arrays up to that size come from the heap, whose end goes back to the system when more than the trim
 * threshold is free there. Every page that went back is a page fault in the next iteration. So whoever frees
 * one large block before main makes this kernel faster. Stages go from small to large, so that the kernel
 * itself raises the thresholds as late as it can; in each, what is freed is more than twice the largest
 * array. */
#include <fcntl.h>
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <dlfcn.h>

#include "../kernel.h"

#define KIB         ((size_t)1024)
#define MIB         (KIB * KIB)
#define MAX_ARRAYS  24
#define MAPPED_FLAG 2 /* in the word before a chunk of glibc's: it is a mapping of its own */

struct stage {
    const char *name;
    int arrays, iterations;
    size_t bytes[6]; /* sizes in turn; 0 ends the list */
};

static const struct stage stages[] = {
    {"near", 24, 40, {100 * KIB, 120 * KIB, 127 * KIB, 129 * KIB, 140 * KIB, 200 * KIB}},
    {"churn", 0, 20, {0}}, /* small objects, no arrays */
    {"lulesh", 12, 45, {1700 * KIB}},
    {"large", 4, 8, {12 * MIB}},
    {"largest", 3, 3, {30 * MIB}},
    {"beyond", 2, 2, {40 * MIB}},
};
#define STAGES (sizeof stages / sizeof stages[0])

static struct {
    char *heap_begin, *heap_end, *heap_most; /* as sbrk(0) says */
    long heap_moves;
    long arrays, mapped;
    uint64_t sum, expected;
} seen;

static void look_at_heap(void)
{
    char *end = sbrk(0);
    seen.heap_moves += end != seen.heap_end;
    seen.heap_end = end;
    if (end > seen.heap_most)
        seen.heap_most = end;
}

static uint64_t *allocate(size_t bytes)
{
    uint64_t *array = malloc(bytes);
    if (array == NULL) {
        fprintf(stderr, "out of memory: %zu bytes\n", bytes);
        exit(KERNEL_FAILED);
    }
    const uint64_t *header = array;
    __asm__("" : "+r"(header)); /* the compiler knows that nothing can be there */
    seen.arrays++;
    seen.mapped += (header[-1] & MAPPED_FLAG) != 0;
    look_at_heap();
    return array;
}

/* The team touches an array first, reads it from its other end, and adds up. */
static void compute(uint64_t *array, size_t count, uint64_t iteration)
{
    uint64_t sum = 0;
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < count; i++)
        array[i] = i + iteration;
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (size_t i = 0; i < count; i++)
        sum += array[i] * 3 - array[count - 1 - i];
    seen.sum += sum;
    seen.expected += count * (count - 1) + 2 * count * iteration;
}

static void iterate(const struct stage *stage, int iteration)
{
    uint64_t *arrays[MAX_ARRAYS];
    size_t bytes[MAX_ARRAYS];
    for (int i = 0, at = 0; i < stage->arrays; i++, at++) {
        if (at == (int)(sizeof stage->bytes / sizeof stage->bytes[0]) || stage->bytes[at] == 0)
            at = 0;
        bytes[i] = stage->bytes[at];
        arrays[i] = allocate(bytes[i]);
    }
    for (int i = 0; i < stage->arrays; i++)
        compute(arrays[i], bytes[i] / sizeof(uint64_t), (uint64_t)iteration);
    for (int i = 0; i < stage->arrays; i++) {
        free(arrays[i]);
        look_at_heap();
    }
}

struct object {
    struct object *next;
    uint64_t value;
};

/* A list of small objects, made and freed, the oldest first: the last ones, at the heap's end, go to no cache
 * of malloc's, so that the end goes back to the system. The sum of its values. */
static uint64_t make_list(int count, bool look)
{
    struct object *first = NULL, **link = &first;
    uint64_t sum = 0;
    for (int i = 0; i < count; i++) {
        struct object *object = malloc(sizeof *object + kernel_hash((uint64_t)i) % 384);
        if (object == NULL)
            exit(KERNEL_FAILED);
        object->next = NULL;
        object->value = (uint64_t)i;
        *link = object;
        link = &object->next;
        if (look)
            look_at_heap();
    }
    while (first != NULL) {
        struct object *next = first->next;
        sum += first->value;
        free(first);
        first = next;
        if (look)
            look_at_heap();
    }
    return sum;
}

static void churn(void)
{
    enum { MAIN_OBJECTS = 20000, TASK_OBJECTS = 4000, TASKS = 8 };
    uint64_t sum = make_list(MAIN_OBJECTS, true);
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < TASKS; i++)
#pragma omp task shared(sum)
    {
        uint64_t part = make_list(TASK_OBJECTS, false);
#pragma omp atomic
        sum += part;
    }
    seen.sum += sum;
    seen.expected += (uint64_t)MAIN_OBJECTS * (MAIN_OBJECTS - 1) / 2 +
                     (uint64_t)TASKS * TASK_OBJECTS * (TASK_OBJECTS - 1) / 2;
}

static long minor_faults(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt;
}

static long peak_kb(void)
{
    char text[4096];
    int fd = open("/proc/self/status", O_RDONLY);
    ssize_t got = fd >= 0 ? read(fd, text, sizeof text - 1) : 0;
    text[got > 0 ? got : 0] = '\0';
    close(fd);
    const char *line = strstr(text, "VmHWM:");
    return line != NULL ? strtol(line + strlen("VmHWM:"), NULL, 10) : -1;
}

struct measured {
    const char *name;
    double seconds;
    long faults, heap_moves, arrays, mapped;
};

/* As far as begun: end_stage() takes the difference. */
static struct measured begin_stage(const char *name)
{
    return (struct measured){name,         -kernel_clock_s(), -minor_faults(), -seen.heap_moves,
                             -seen.arrays, -seen.mapped};
}

static void end_stage(struct measured *stage)
{
    stage->seconds += kernel_clock_s();
    stage->faults += minor_faults();
    stage->heap_moves += seen.heap_moves;
    stage->arrays += seen.arrays;
    stage->mapped += seen.mapped;
}

/* The runtime allocates what it keeps when a thread first needs it: a block of its own above the arrays would
 * keep the heap from shrinking, in one run and not in the next. And the threads find their cores. */
static int warm_up(void)
{
    int threads = 0, tasks = 0, warm[64];
    double end_s = kernel_clock_s() + 0.1;
#pragma omp parallel reduction(+ : threads)
    {
        threads++;
        for (int i = 0; i < 8; i++)
#pragma omp task shared(tasks)
#pragma omp atomic
            tasks++;
#pragma omp taskwait
#pragma omp for schedule(static)
        for (int i = 0; i < 64; i++)
            warm[i] = i;
        while (kernel_clock_s() < end_s)
            ;
    }
    return tasks == 8 * threads && warm[63] == 63 ? threads : 0;
}

/* tests/programs/tool_memory.c, where it is preloaded, is told what the program is doing. */
static void tell(const char *what)
{
    void (*phase)(const char *) = (void (*)(const char *))dlsym(RTLD_DEFAULT, "tool_memory_phase");
    if (phase != NULL)
        phase(what);
}

int main(int argc, char **argv)
{
    long repeat = 1;
    char size[16];
    const struct kernel_arg args[] = {{"REPEAT", &repeat, 0, 1000, "all iterations so often", NULL}, {0}};
    kernel_parse_args(argc, argv, "memory", args);
    struct measured results[STAGES];
    int threads = warm_up();
    tell("running");
    size_t kept =
        mallinfo2().uordblks; /* what is in use before the kernel begins: the runtime's, and a tool's */
    seen.heap_begin = seen.heap_end = seen.heap_most = sbrk(0);
    struct measured whole = begin_stage("whole");
    for (size_t i = 0; i < STAGES; i++) {
        results[i] = begin_stage(stages[i].name);
        for (int iteration = 0; iteration < stages[i].iterations * repeat; iteration++)
            if (stages[i].arrays > 0)
                iterate(&stages[i], iteration);
            else
                churn();
        end_stage(&results[i]);
    }
    end_stage(&whole);
    tell("end");
    long peak = peak_kb();
    for (size_t i = 0; i <= STAGES; i++) {
        const struct measured *m = i < STAGES ? &results[i] : &whole;
        printf("stage %s %.6f %ld %ld %ld %ld\n", m->name, m->seconds, m->faults, m->heap_moves, m->arrays,
               m->mapped);
    }
    printf("peak_kb %ld\nheap_peak_kb %ld\nkept_bytes %zu\nteam %d\n", peak,
           (long)(seen.heap_most - seen.heap_begin) / 1024, kept, threads);
    snprintf(size, sizeof size, "%ld", repeat);
    return kernel_report("memory", size, whole.seconds, seen.sum == seen.expected);
}
