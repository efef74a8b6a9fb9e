/* A library's file is cut short while its function is on the stack: what unwinds it reads pages that are
 * gone. No sample comes before, which would remember what it has read. The library is this file with -DLIBRARY: lost_tables
 * FILE-OF-THE-LIBRARY. It leaves by _exit, as nothing of the library may run again. */
#ifdef LIBRARY
void call_back(void (*function)(void));

void call_back(void (*function)(void))
{
    function();
    __asm__ volatile("");
}
#else
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "analytic.h"

void call_back(void (*function)(void));

static const char *path;
static sigset_t all, before;

NAMED static void cut_and_work(void)
{
    if (truncate(path, 0) != 0)
        perror(path);
    sigprocmask(SIG_SETMASK, &before, NULL);
    work_for("cut_and_work", 0.3);
    static const char text[] = "survived\n";
    _exit(write(1, text, sizeof(text) - 1) > 0 ? 0 : 1);
}

int main(int argc, char **argv)
{
    path = argc > 1 ? argv[1] : "";
#pragma omp parallel num_threads(2)
    work_for("before", 0.02);
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    call_back(cut_and_work);
    return 1;
}
#endif
