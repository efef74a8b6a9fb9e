/* Put before every instrumented unit: what the C library does to shared memory, and where the kernel lets others go on. */
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#undef memset
#undef memcpy
#define memset      model_memset
#define memcpy      model_memcpy
#define nanosleep   model_nanosleep
#define sched_yield model_sched_yield
#define syscall     model_syscall
#define open        model_open

void *model_memset(void *into, int value, size_t bytes);
void *model_memcpy(void *into, const void *from, size_t bytes);
int model_nanosleep(const struct timespec *pause, struct timespec *left);
int model_sched_yield(void);
long model_syscall(long number, ...);
int model_open(const char *path, int flags, ...);
