/* Checks invariants in debug builds: those compiled with -DBLAME_DEBUG, and all sanitizer builds (make SAN=...).
 * Other builds do not evaluate the condition. */
#ifndef BLAME_BASE_INVARIANT_H
#define BLAME_BASE_INVARIANT_H

#ifdef BLAME_DEBUG
#include "base/log.h"

#define INVARIANT_LINE(number)    #number
#define INVARIANT_LINE_OF(number) INVARIANT_LINE(number)
/* If the condition does not hold, prints a line on stderr and ends the program by SIGILL or SIGTRAP. [any] */
#define INVARIANT(condition)                                                                                           \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            log_line(__FILE__ ":" INVARIANT_LINE_OF(__LINE__) ": this must always hold: " #condition, NULL);           \
            __builtin_trap();                                                                                          \
        }                                                                                                              \
    } while (0)
#else
#define INVARIANT(condition) ((void)0)
#endif

#endif
