#include "command/tables/threads.h"

const char *thread_kind_name(const struct profile_thread *thread)
{
    switch (thread->kind) {
    case PROFILE_THREAD_INITIAL:
        return "initial";
    case PROFILE_THREAD_WORKER:
        return "worker";
    case PROFILE_THREAD_HELPER:
        return "helper";
    default:
        return "other";
    }
}
