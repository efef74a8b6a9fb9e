/* Time that is no work. argv[1]:
 *   shared  two threads have the same to do, each on a core of its own; one of the cores has to do for another process, too
 *   asleep  code that sleeps, code that reads from a pipe, code that works
 *   stopped another process stops this one for a while
 *   vforks  a call that no signal interrupts, beside a worker that sleeps
 *   closes  all descriptors are closed, and their numbers used again */
#include "analytic.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define EACH_S   0.3
#define SLEEP_NS 200000000
#define NUMBERS  1000
#define MORE     3 /* threads */

/* So long on a core, however long that takes. */
NAMED static void work(double cpu_s)
{
    struct timespec used;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    double end_s = (double)used.tv_sec + 1e-9 * (double)used.tv_nsec + cpu_s;
    do {
        spin_until(0);
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    } while ((double)used.tv_sec + 1e-9 * (double)used.tv_nsec < end_s);
}

static void stay_on(int core)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(core, &set);
    sched_setaffinity(0, sizeof(set), &set);
}

/* All threads', in balanced(): with a core, and of that not even the kernel knows what it was for. */
static double worked_s, stood_still_s;

NAMED static void balanced(int core)
{
    stay_on(core);
    double begin_s = clock_s();
    note_reading(begin_s);
    struct reading begin = *reading_at(begin_s);
    work(EACH_S);
    double end_s = clock_s();
    note_reading(end_s);
    const struct reading *end = reading_at(end_s);
    double with_core_s = end_s - begin_s - (end->delayed_s - begin.delayed_s);
#pragma omp critical(balanced)
    {
        worked_s += with_core_s;
        stood_still_s += with_core_s - (end->ran_s - begin.ran_s);
    }
}

static int shared(void)
{
    cpu_set_t set;
    int core[2] = {-1, -1};
    sched_getaffinity(0, sizeof(set), &set);
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &set))
            core[core[0] >= 0] = i;
    if (core[1] < 0)
        return puts("one core"), 0;
    pid_t other = fork();
    if (other == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        stay_on(core[1]);
        for (;;)
            spin_until(0);
    }
#pragma omp parallel num_threads(2)
    balanced(core[omp_get_thread_num()]);
    kill(other, SIGKILL);
    waitpid(other, NULL, 0);
    printf("worked %.6f stood still %.6f\n", worked_s, stood_still_s);
    return 0;
}

NAMED static void sleeper(void)
{
    nanosleep(&(struct timespec){0, SLEEP_NS}, NULL);
    __asm__ volatile("" ::: "memory");
}

NAMED static void reader(int fd)
{
    char byte;
    if (read(fd, &byte, 1) != 1)
        abort();
}

static void await_sleep_of(pid_t process)
{
    char path[32], text[512], state = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)process);
    while (state != 'S') {
        FILE *file = fopen(path, "r");
        if (!file || !fgets(text, sizeof text, file))
            _exit(2);
        fclose(file);
        state = strrchr(text, ')')[2];
    }
}

static int asleep(void)
{
    int ends[2];
    pid_t process = getpid();
    if (pipe(ends) != 0)
        return 1;
#pragma omp parallel num_threads(1)
    sleeper();
    pid_t writer = fork();
    if (writer == 0) {
        await_sleep_of(process); /* in reader(); or in a sample of it, which is as good */
        nanosleep(&(struct timespec){0, SLEEP_NS}, NULL);
        _exit(write(ends[1], "x", 1) != 1);
    }
    reader(ends[0]);
    waitpid(writer, NULL, 0);
    work(EACH_S);
    return 0;
}

/* A thread that has no core stops when it gets one. */
static int is_any_running(pid_t process)
{
    char folder[64], path[512], state = 'T';
    snprintf(folder, sizeof(folder), "/proc/%d/task", (int)process);
    DIR *threads = opendir(folder);
    for (struct dirent *entry; threads && state == 'T' && (entry = readdir(threads));) {
        snprintf(path, sizeof(path), "%s/%s/stat", folder, entry->d_name);
        FILE *file = entry->d_name[0] == '.' ? NULL : fopen(path, "r");
        if (file && fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
            state = '?';
        if (file)
            fclose(file);
    }
    if (threads)
        closedir(threads);
    return state != 'T';
}

static void *begin_alone(void *all)
{
#pragma omp parallel num_threads(1)
    pthread_barrier_wait(all);
    return NULL;
}

/* More threads than there are when it is stopped. */
static void come_and_go(void)
{
    pthread_t threads[MORE];
    pthread_barrier_t all;
    pthread_barrier_init(&all, NULL, MORE);
    for (int i = 0; i < MORE; i++)
        pthread_create(&threads[i], NULL, begin_alone, &all);
    for (int i = 0; i < MORE; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&all);
}

static int stopped(void)
{
    come_and_go();
    pid_t process = getpid(),
          *waiter = mmap(NULL, sizeof(*waiter), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0),
          other = fork();
    if (other == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        while (!__atomic_load_n(waiter, __ATOMIC_ACQUIRE)) /* a thread that has not begun yet is not measured */
            nanosleep(&(struct timespec){0, 1000000}, NULL);
        await_sleep_of(*waiter);
        nanosleep(&(struct timespec){0, SLEEP_NS}, NULL);
        kill(process, SIGSTOP);
        while (is_any_running(process))
            nanosleep(&(struct timespec){0, 1000000}, NULL);
        nanosleep(&(struct timespec){0, 2 * SLEEP_NS}, NULL);
        kill(process, SIGCONT);
        _exit(0);
    }
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 0)
        while (waitpid(other, NULL, WNOHANG) == 0)
            work(0.01);
    else
        __atomic_store_n(waiter, gettid(), __ATOMIC_RELEASE);
    return 0;
}

NAMED static void await_child(void)
{
    pid_t child = vfork();
    if (child == 0) {
        nanosleep(&(struct timespec){0, 3 * SLEEP_NS}, NULL);
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

static int vforks(void)
{
#pragma omp parallel num_threads(2)
    work(0.01);
    await_child();
    return 0;
}

static int closes(void)
{
    struct stat null, now;
    int fd = open("/dev/null", O_RDONLY), wrong = 0;
    fstat(fd, &null);
#pragma omp parallel num_threads(2)
    {
        work(0.02);
#pragma omp barrier
#pragma omp single
        for (int number = 3; number < NUMBERS; number++)
            dup2(fd, number);
        work(0.1);
    }
    for (int number = 3; number < NUMBERS; number++)
        wrong += number != fd && (fstat(number, &now) != 0 || now.st_ino != null.st_ino);
    printf("%d numbers are wrong\n", wrong);
    return wrong != 0;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    return strcmp(what, "shared") == 0    ? shared()
           : strcmp(what, "asleep") == 0  ? asleep()
           : strcmp(what, "stopped") == 0 ? stopped()
           : strcmp(what, "vforks") == 0  ? vforks()
                                          : closes();
}
