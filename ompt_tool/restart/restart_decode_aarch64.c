/* The kernel leaves the call's number in x8, so only the instruction is looked at. */
#include "restart_decode.h"

#include "base/registers.h"

enum {
    SUPERVISOR_CALL = 0xd4000001, /* svc #0 */
    PAGE_BYTES = 4096,            /* or a part of one */
    CALL_LIMIT = 1024,            /* a larger number is no system call's */
};

long restart_decode_call_before(const ucontext_t *context)
{
    uintptr_t call = registers_pc(context) - REGISTERS_CALL_BYTES;
    if (call % PAGE_BYTES == PAGE_BYTES - REGISTERS_CALL_BYTES &&
        !restart_is_readable(call - REGISTERS_CALL_BYTES))
        return RESTART_DECODE_NOT_A_CALL;
    if (*(const uint32_t *)call != SUPERVISOR_CALL)
        return RESTART_DECODE_NOT_A_CALL;
    long number = registers_number(context);
    return number >= 0 && number < CALL_LIMIT ? number : RESTART_DECODE_NO_NUMBER;
}

bool restart_decode_at_syscall(const ucontext_t *context)
{
    return *(const uint32_t *)registers_pc(context) == SUPERVISOR_CALL;
}
