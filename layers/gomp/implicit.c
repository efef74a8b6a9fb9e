#include "layers/gomp/implicit.h"

void implicit_tell_late_end(struct thread *thread, struct region *next)
{
    struct task *task = thread->task;
    task->region = next;
    implicit_end(task, 0, NULL);
    thread->late = false;
    thread_switch(thread, NULL);
    task_free(thread, task);
}
