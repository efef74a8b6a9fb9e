/* Checks of invariants in debug builds. -DBLAME_DEBUG makes one; sanitizer builds (make SAN=...) have it. Other
 * builds do not evaluate the condition. */
#ifndef BLAME_BASE_INVARIANT_H
#define BLAME_BASE_INVARIANT_H

#ifdef BLAME_DEBUG
#include "base/log.h"

#define INVARIANT_LINE(number)    #number
#define INVARIANT_LINE_OF(number) INVARIANT_LINE(number)
/* Ends the program by SIGILL or SIGTRAP, after a line on stderr, if the condition does not hold. [any] */
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
