/* Usage: control WORD ...: the standard's commands to a tool, in the order of the words, with 0.2 s of work
 * before the first and behind each, and a phase around all: start, pause, flush, end, and trace and untrace (blame.h). Work is in measured()
 * or, between pause and start and behind end, in unmeasured(). Prints the seconds of both and what each
 * command returned. libgomp has no omp_control_tool: a program built by GCC finds it at run time. */
#include <dlfcn.h>

#include "analytic.h"
#include "blame.h"

static const char *const words[] = {"", "start", "pause", "flush", "end"}; /* the place is the command's number */
enum { START = 1, PAUSE, FLUSH, END, COMMANDS };

static double measured_s, unmeasured_s;

NAMED static void measured(void)
{
    double begin_s = clock_s();
    spin_until(begin_s + 0.2);
    measured_s += clock_s() - begin_s;
}

NAMED static void unmeasured(void)
{
    double begin_s = clock_s();
    spin_until(begin_s + 0.2);
    unmeasured_s += clock_s() - begin_s;
}

static int control(int command)
{
    int (*call)(int, int, void *) = (int (*)(int, int, void *))dlsym(RTLD_DEFAULT, "omp_control_tool");
    return call ? call(command, 0, NULL) : -2;
}

static int command_of(const char *word)
{
    for (int command = START; command < COMMANDS; command++)
        if (strcmp(word, words[command]) == 0)
            return command;
    return 0;
}

int main(int argc, char **argv)
{
    int paused = 0, ended = 0;
#pragma omp parallel num_threads(2)
    spin_until(clock_s()); /* an empty region would be left out */
    blame_phase_begin("all");
    measured();
    for (int i = 1; i < argc; i++) {
        int command = command_of(argv[i]), trace = strcmp(argv[i], "trace") == 0;
        if (trace || strcmp(argv[i], "untrace") == 0) {
            trace ? blame_trace_begin() : blame_trace_end();
            measured();
            continue;
        }
        if (!command)
            return fputs("usage: control [start|pause|flush|end|trace|untrace] ...\n", stderr), 2;
        printf("%s %d\n", argv[i], control(command));
        ended |= command == END;
        paused = command == PAUSE || (paused && command != START);
        if (paused || ended)
            unmeasured();
        else
            measured();
    }
    blame_phase_end("all");
    printf("clocked measured %.6f\nclocked unmeasured %.6f\n", measured_s, unmeasured_s);
    return 0;
}
