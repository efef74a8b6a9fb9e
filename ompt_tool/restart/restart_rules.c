/* The table of restart_rules.h, of the calls that the machine has. A call that is missing here never shows
 * EINTR under SA_RESTART, or must not be repeated (close). */
#include "restart_rules.h"

#include <stddef.h>
#include <sys/socket.h>
#include <sys/syscall.h>

/* The call, the one that waits instead of it, and which arguments of that are its time limit and its mask. */
#define WAIT(number, instead, limit_kind, limit_at, mask_kind, mask_at)                                      \
    {.call = number, .way = WAY_WAIT, .wait_call = instead, .limit = limit_kind, .limit_arg = limit_at,      \
     .mask = mask_kind, .mask_arg = mask_at}

static const struct restart_rule RULES[] = {
    {.call = SYS_nanosleep, .way = WAY_KERNEL, .limit = LIMIT_SLEEP, .limit_arg = 0},
    {.call = SYS_clock_nanosleep, .way = WAY_KERNEL, .limit = LIMIT_SLEEP, .limit_arg = 2},
#ifdef SYS_poll
    {.call = SYS_poll, .way = WAY_KERNEL, .limit = LIMIT_MS, .limit_arg = 2},
#endif
    {.call = SYS_futex, .way = WAY_KERNEL},
    WAIT(SYS_ppoll, SYS_ppoll, LIMIT_LEFT, 2, MASK_PTR, 3),
    WAIT(SYS_pselect6, SYS_pselect6, LIMIT_LEFT, 4, MASK_PAIR, 5),
#ifdef SYS_epoll_wait
    WAIT(SYS_epoll_wait, SYS_epoll_pwait2, LIMIT_MS, 3, MASK_PTR, 4),
#endif
    WAIT(SYS_epoll_pwait, SYS_epoll_pwait2, LIMIT_MS, 3, MASK_PTR, 4),
    WAIT(SYS_epoll_pwait2, SYS_epoll_pwait2, LIMIT_REL, 3, MASK_PTR, 4),
#ifdef SYS_pause
    WAIT(SYS_pause, SYS_rt_sigsuspend, LIMIT_NONE, 0, MASK_PTR, 0),
#endif
    WAIT(SYS_rt_sigsuspend, SYS_rt_sigsuspend, LIMIT_NONE, 0, MASK_PTR, 0),
    WAIT(SYS_io_getevents, SYS_io_pgetevents, LIMIT_REL, 4, MASK_PAIR, 5),
    WAIT(SYS_io_pgetevents, SYS_io_pgetevents, LIMIT_REL, 4, MASK_PAIR, 5),
    WAIT(SYS_semtimedop, SYS_semtimedop, LIMIT_REL, 3, MASK_NONE, 0),
    WAIT(SYS_rt_sigtimedwait, SYS_rt_sigtimedwait, LIMIT_REL, 2, MASK_NONE, 0),
#ifdef SYS_select
    {.call = SYS_select, .way = WAY_IN_PLACE},
#endif
    {.call = SYS_semop, .way = WAY_IN_PLACE},
    {.call = SYS_msgsnd, .way = WAY_IN_PLACE},
    {.call = SYS_msgrcv, .way = WAY_IN_PLACE},
    {.call = SYS_fallocate, .way = WAY_HERE}, /* of memory, before Linux 6.11, and of huge pages */
    {.call = SYS_io_uring_enter, .way = WAY_URING},
    {.call = SYS_read, .way = WAY_SOCKET, .socket_option = SO_RCVTIMEO},
    {.call = SYS_readv, .way = WAY_SOCKET, .socket_option = SO_RCVTIMEO},
    {.call = SYS_recvfrom, .way = WAY_SOCKET, .socket_option = SO_RCVTIMEO},
    {.call = SYS_recvmsg, .way = WAY_SOCKET, .socket_option = SO_RCVTIMEO},
    {.call = SYS_recvmmsg, .way = WAY_SOCKET, .socket_option = SO_RCVTIMEO},
    {.call = SYS_accept, .way = WAY_SOCKET, .socket_option = SO_RCVTIMEO},
    {.call = SYS_accept4, .way = WAY_SOCKET, .socket_option = SO_RCVTIMEO},
    {.call = SYS_write, .way = WAY_SOCKET, .socket_option = SO_SNDTIMEO},
    {.call = SYS_writev, .way = WAY_SOCKET, .socket_option = SO_SNDTIMEO},
    {.call = SYS_sendto, .way = WAY_SOCKET, .socket_option = SO_SNDTIMEO},
    {.call = SYS_sendmsg, .way = WAY_SOCKET, .socket_option = SO_SNDTIMEO},
    {.call = SYS_sendmmsg, .way = WAY_SOCKET, .socket_option = SO_SNDTIMEO},
    {.call = SYS_connect, .way = WAY_SOCKET, .socket_option = SO_SNDTIMEO},
};

const struct restart_rule *restart_find_rule(long call)
{
    for (size_t i = 0; i < sizeof RULES / sizeof RULES[0]; i++)
        if (RULES[i].call == call)
            return &RULES[i];
    return NULL;
}
