/* The table of restart_rules.h. A call that is missing here never shows EINTR under SA_RESTART, or must not
 * be repeated (close). */
#include "restart_rules.h"

#include <stddef.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "restart_stub.h"

#ifdef RESTART_SUPPORTED

static const struct restart_rule RULES[] = {
    {.call = SYS_nanosleep, .way = WAY_KERNEL},
    {.call = SYS_clock_nanosleep, .way = WAY_KERNEL},
    {.call = SYS_poll, .way = WAY_KERNEL},
    {.call = SYS_futex, .way = WAY_KERNEL},
    {.call = SYS_ppoll,
     .way = WAY_WAIT,
     .wait_call = SYS_ppoll,
     .limit = LIMIT_LEFT,
     .limit_arg = 2,
     .mask = MASK_PTR,
     .mask_arg = 3},
    {.call = SYS_pselect6,
     .way = WAY_WAIT,
     .wait_call = SYS_pselect6,
     .limit = LIMIT_LEFT,
     .limit_arg = 4,
     .mask = MASK_PAIR,
     .mask_arg = 5},
    {.call = SYS_epoll_wait,
     .way = WAY_WAIT,
     .wait_call = SYS_epoll_pwait2,
     .limit = LIMIT_MS,
     .limit_arg = 3,
     .mask = MASK_PTR,
     .mask_arg = 4},
    {.call = SYS_epoll_pwait,
     .way = WAY_WAIT,
     .wait_call = SYS_epoll_pwait2,
     .limit = LIMIT_MS,
     .limit_arg = 3,
     .mask = MASK_PTR,
     .mask_arg = 4},
    {.call = SYS_epoll_pwait2,
     .way = WAY_WAIT,
     .wait_call = SYS_epoll_pwait2,
     .limit = LIMIT_REL,
     .limit_arg = 3,
     .mask = MASK_PTR,
     .mask_arg = 4},
    {.call = SYS_pause, .way = WAY_WAIT, .wait_call = SYS_rt_sigsuspend, .mask = MASK_PTR, .mask_arg = 0},
    {.call = SYS_rt_sigsuspend,
     .way = WAY_WAIT,
     .wait_call = SYS_rt_sigsuspend,
     .mask = MASK_PTR,
     .mask_arg = 0},
    {.call = SYS_io_getevents,
     .way = WAY_WAIT,
     .wait_call = SYS_io_pgetevents,
     .limit = LIMIT_REL,
     .limit_arg = 4,
     .mask = MASK_PAIR,
     .mask_arg = 5},
    {.call = SYS_io_pgetevents,
     .way = WAY_WAIT,
     .wait_call = SYS_io_pgetevents,
     .limit = LIMIT_REL,
     .limit_arg = 4,
     .mask = MASK_PAIR,
     .mask_arg = 5},
    {.call = SYS_semtimedop,
     .way = WAY_WAIT,
     .wait_call = SYS_semtimedop,
     .limit = LIMIT_REL,
     .limit_arg = 3},
    {.call = SYS_rt_sigtimedwait,
     .way = WAY_WAIT,
     .wait_call = SYS_rt_sigtimedwait,
     .limit = LIMIT_REL,
     .limit_arg = 2},
    {.call = SYS_select, .way = WAY_IN_PLACE},
    {.call = SYS_semop, .way = WAY_IN_PLACE},
    {.call = SYS_msgsnd, .way = WAY_IN_PLACE},
    {.call = SYS_msgrcv, .way = WAY_IN_PLACE},
    {.call = SYS_read, .way = WAY_SOCKET, .socket_option = SO_RCVTIMEO},
    {.call = SYS_readv, .way = WAY_SOCKET, .socket_option = SO_RCVTIMEO},
    {.call = SYS_recvfrom, .way = WAY_SOCKET, .socket_option = SO_RCVTIMEO},
    {.call = SYS_recvmsg, .way = WAY_SOCKET, .socket_option = SO_RCVTIMEO},
    {.call = SYS_accept, .way = WAY_SOCKET, .socket_option = SO_RCVTIMEO},
    {.call = SYS_accept4, .way = WAY_SOCKET, .socket_option = SO_RCVTIMEO},
    {.call = SYS_write, .way = WAY_SOCKET, .socket_option = SO_SNDTIMEO},
    {.call = SYS_writev, .way = WAY_SOCKET, .socket_option = SO_SNDTIMEO},
    {.call = SYS_sendto, .way = WAY_SOCKET, .socket_option = SO_SNDTIMEO},
    {.call = SYS_sendmsg, .way = WAY_SOCKET, .socket_option = SO_SNDTIMEO},
    {.call = SYS_connect, .way = WAY_SOCKET, .socket_option = SO_SNDTIMEO},
};

const struct restart_rule *restart_find_rule(long call)
{
    for (size_t i = 0; i < sizeof RULES / sizeof RULES[0]; i++)
        if (RULES[i].call == call)
            return &RULES[i];
    return NULL;
}

#else
typedef int restart_rules_are_for_x86_64_only;
#endif
