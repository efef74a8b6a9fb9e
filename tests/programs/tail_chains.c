/* Chains of tail calls for tests/unit/test_tail_calls.c, which reads this program and never runs it. Every function
 * named go_... is called once, by main, and leaves the stack by a jump; what it jumps to ends in goal() or puts(). */
#include <stdio.h>

#ifdef __clang__
#define NAMED __attribute__((noinline))
#else
#define NAMED __attribute__((noinline, noclone, noipa))
#endif

volatile int sink;
void (*volatile through)(int);

NAMED void goal(int x)
{
    sink += x;
}

NAMED void middle(int x)
{
    sink += 1;
    goal(x + 1);
}

NAMED void go_chain(int x)
{
    sink += 2;
    middle(x + 2); /* line 28 */
}

NAMED void left(int x)
{
    sink += 3;
    goal(x + 3);
}

NAMED void right(int x)
{
    sink += 4;
    goal(x + 4);
}

NAMED void go_either(int x)
{
    if (x)
        left(x);
    else
        right(x + 5);
}

NAMED void go_pointer(int x)
{
    sink += 6;
    through(x);
}

NAMED void stays(int x)
{
    goal(x);
    sink += 7;
}

NAMED void go_puts(const char *text)
{
    sink += 8;
    puts(text);
}

static inline void inlined(int x)
{
    sink += 9;
    goal(x); /* line 72 */
}

NAMED void go_inlined(int x)
{
    sink += 10;
    inlined(x);
}

NAMED void go_region(int x)
{
    sink += x;
#pragma omp parallel
    goal(11); /* line 85 */
}

NAMED void other_goal(void)
{
    sink += 12;
}

NAMED void regions(int x)
{
#pragma omp parallel
    {
        sink += x;
        other_goal();
    }
    sink += 13;
#pragma omp parallel /* line 101 */
    other_goal();
    sink += 14;
}

NAMED void task_goal(void)
{
    sink += 15;
}

NAMED void tasks(void)
{
#pragma omp parallel
    {
#pragma omp task /* line 115 */
        {
            sink += 16;
            task_goal();
        }
        sink += 17;
    }
    sink += 18;
}

NAMED void either_goal(void)
{
    sink += 19;
}

NAMED void two_tasks(void)
{
#pragma omp task /* line 132 */
    {
        sink += 20;
        either_goal();
    }
#pragma omp task /* line 137 */
    {
        sink += 21;
        either_goal();
    }
    sink += 22;
}

NAMED void go_critical(void)
{
#pragma omp critical(section)
    {
        sink += 23;
    } /* line 150 */
}

#include <pthread.h> /* here, because the lines above are in the test */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

NAMED void go_mutex(void)
{
    pthread_mutex_lock(&mutex);
    sink += 24;
    pthread_mutex_unlock(&mutex);
}

int main(int argc, char **argv)
{
    for (int i = 0; i < argc; i++) {
        go_chain(argc);
        go_either(argc);
        go_pointer(argc);
        stays(argc);
        go_puts(argv[i]);
        go_inlined(argc);
        go_region(argc);
        regions(argc);
        tasks();
        two_tasks();
        go_critical();
        go_mutex();
    }
    through = goal;
    return sink;
}
