/* Which system calls show the program an EINTR although SA_RESTART is set, and how each is put back. Internal
 * to restart.c. */
#ifndef BLAME_OMPT_TOOL_RESTART_RESTART_RULES_H
#define BLAME_OMPT_TOOL_RESTART_RESTART_RULES_H

#include <stdint.h>

enum restart_way {
    WAY_KERNEL,   /* restart_syscall, if the kernel left a restart block; else in place */
    WAY_WAIT,     /* the wait stub */
    WAY_SOCKET,   /* the wait stub, with a time limit that is the socket's */
    WAY_IN_PLACE, /* the same instruction again */
    WAY_HERE,     /* in the handler, which no signal interrupts: each time it begins anew, so that in place it may never end */
    WAY_URING,    /* in place, or the wait stub with a time limit that is in a structure */
};

enum restart_limit {
    LIMIT_NONE,
    LIMIT_MS,   /* an int of milliseconds, negative: none */
    LIMIT_REL,  /* a timespec that the kernel leaves alone, NULL: none */
    LIMIT_LEFT, /* a timespec that the kernel keeps up to date, NULL: none */
    LIMIT_SLEEP, /* how long it sleeps; the next argument is where the program wants to have what is left, NULL: nowhere */
};

enum restart_mask {
    MASK_NONE, /* the call has no mask argument */
    MASK_PTR,  /* the argument is a sigset, its size is the next one */
    MASK_PAIR, /* the argument points to a sigset's address and its size */
};

struct restart_rule {
    short call;
    short wait_call;     /* WAY_WAIT: the call that waits instead of it */
    short socket_option; /* WAY_SOCKET: the one that holds the time limit */
    uint8_t way;         /* enum restart_way */
    uint8_t limit, limit_arg;
    uint8_t mask, mask_arg;
};

/* NULL: a call that has no rule. [handler] */
__attribute__((visibility("hidden"))) const struct restart_rule *restart_find_rule(long call);

#endif
