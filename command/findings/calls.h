/* Calls outside the program in which threads sleep: their names, and what they wait for, as far as the names of their
 * functions tell. One table serves all findings. */
#ifndef BLAME_COMMAND_FINDINGS_CALLS_H
#define BLAME_COMMAND_FINDINGS_CALLS_H

#include "command/rows/row.h"

#define MOSTLY       0.5 /* a cause is named if it explains at least this share of the idleness */
#define NAME_COLUMNS 60
#define NAME_BYTES   (4 * NAME_COLUMNS + 1)

/* Shortens a name so that it can be used in a sentence. */
void shorten_name(char to[NAME_BYTES], const char *name);

/* Writes the short name of the function outside the program that the program called. The row may be deep inside that
 * function: writes "read" for __GI___libc_read. */
void name_call(char to[NAME_BYTES], const struct rows *rows, uint32_t row);

struct awaited {
    const char *what;   /* "another process"; "": the name says it, or only the program knows it */
    const char *advice; /* a sentence or more */
    bool threads;       /* other threads of the program; what they do is the cause, not this call */
    bool held;          /* one of these threads holds a lock */
    bool ends_with_it;  /* only the end of what it waits for ends the call, so no time can be saved here */
};

/* Returns what the row's call waits for. `woken` says whether threads of the program ended most of the wait. */
const struct awaited *awaited_of(const struct rows *rows, uint32_t row, bool woken);
/* Returns whether other measured threads were busy for most of the row's time. */
bool threads_were_busy(const struct rows *rows, uint32_t row);

#define BLOCKED_BYTES (NAME_BYTES + 48)
/* Writes "blocked in pthread_join (waiting for other threads)". */
void describe_blocked(char to[BLOCKED_BYTES], const struct rows *rows, uint32_t row, const struct awaited *awaited);

#endif
