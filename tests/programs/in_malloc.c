/* A program with a malloc of its own, in which it computes for 0.2 s. Whoever uses the heap meanwhile, as a signal handler
 * might, ends the program with status 99: other programs' allocators would deadlock. */
#include <stddef.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define SLOW_BYTES 4242

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *block, size_t bytes);
void __libc_free(void *block);
void *malloc(size_t bytes);
void *calloc(size_t count, size_t bytes);
void *realloc(void *block, size_t bytes);
void free(void *block);

static volatile int inside;
static volatile double sink;

static double cpu_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void enter(void)
{
    if (inside)
        _exit(99);
}

__attribute__((noinline)) static void search_free_block(void)
{
    double end_s = cpu_s() + 0.2;
    inside = 1;
    while (cpu_s() < end_s)
        for (int i = 0; i < 1000; i++)
            sink += i;
    inside = 0;
}

void *malloc(size_t bytes)
{
    enter();
    if (bytes == SLOW_BYTES)
        search_free_block();
    return __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes)
{
    enter();
    return __libc_calloc(count, bytes);
}

void *realloc(void *block, size_t bytes)
{
    enter();
    return __libc_realloc(block, bytes);
}

void free(void *block)
{
    enter();
    __libc_free(block);
}

int main(void)
{
    void *volatile block = malloc(SLOW_BYTES);
    free(block);
    puts("done");
    return 7;
}
