#include "command/cli/progress.h"

#define PATIENCE_NS 1000000000u /* ns of work before the progress line is first printed */
#define REFRESH_NS  100000000u

static struct progress {
    FILE *terminal;
    uint64_t (*now_ns)(void);
    uint64_t begin_ns, printed_ns;
    const char *what;
    int columns; /* length of the printed line; 0: none is printed */
} progress;

void progress_start(FILE *terminal, uint64_t (*now_ns)(void))
{
    progress_end();
    progress = (struct progress){.terminal = terminal, .now_ns = now_ns};
    if (terminal)
        progress.begin_ns = now_ns();
}

void progress_phase(const char *what)
{
    progress.what = what;
}

void progress_step(size_t done, size_t total)
{
    if (!progress.terminal || !progress.what)
        return;
    uint64_t now_ns = progress.now_ns();
    if (now_ns - progress.begin_ns < PATIENCE_NS || now_ns - progress.printed_ns < REFRESH_NS)
        return;
    progress.printed_ns = now_ns;
    int percent = total ? (int)(100.0 * (double)done / (double)total) : 0;
    int columns = fprintf(progress.terminal, "\rblame: %s: %d %%", progress.what, percent) - 1;
    if (columns < progress.columns)
        fprintf(progress.terminal, "%*s", progress.columns - columns, "");
    else
        progress.columns = columns;
    fflush(progress.terminal);
}

void progress_end(void)
{
    if (progress.terminal && progress.columns > 0) {
        fprintf(progress.terminal, "\r%*s\r", progress.columns, "");
        fflush(progress.terminal);
    }
    progress.columns = 0;
}
