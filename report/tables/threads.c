#include "report/tables/threads.h"

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

uint64_t thread_end_ns(const struct profile_thread *thread)
{
    uint64_t end = thread->end_ns ? thread->end_ns : thread->last_ns;
    return end > thread->begin_ns ? end : thread->begin_ns;
}
