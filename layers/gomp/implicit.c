#include "layers/gomp/implicit.h"

void implicit_tell_late_end(struct thread *thread)
{
    struct task *task = thread->task;
    implicit_end(thread, task, 0, NULL);
    thread->late = false;
    thread_switch(thread, NULL);
    task_free(thread, task);
}
