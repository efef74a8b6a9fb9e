/* Target regions on the host. With a device, the function's address is the key by which libgomp finds the device's code,
 * so these calls are passed on as they are. Without one, a target region with `nowait` is a task that libgomp runs
 * inside some thread's wait; its body gets the array of mapped addresses, in front of which two of ours stand. Other
 * target regions are calls of their body. */
#include <stdlib.h>
#include <string.h>

#include "layers/gomp/provider.h"
#include "layers/gomp/real.h"
#include "layers/gomp/tasks.h"

enum { TARGET_NOWAIT = 1 << 0, MAP_ALLOC = 0 };

/* In front of the program's addresses, in each of the arrays. */
enum { OWN_TASK, OWN_BODY, OWN };

/* Runs as the body of each target region with `nowait`. The call in it is no jump. */
static NOINLINE void target_run(void *argument)
{
    void **addresses = argument;
    struct thread *thread = provider_enter();
    struct task *task = addresses[OWN_TASK];
    outlined *body;
    memcpy(&body, &addresses[OWN_BODY], sizeof(body));
    if (!thread || !task) {
        body(addresses + OWN);
        return;
    }
    task_begin(thread, task, FRAME);
    body(addresses + OWN);
    task_end(task, true);
}

struct target_call {
    int device;
    outlined *body;
    size_t count;
    void **addresses;
    size_t *sizes;
    unsigned short *kinds;
    unsigned flags;
    void **depend, **arguments;
};

/* Tells the task, and passes its record on in arrays that are longer by two entries, which libgomp copies. */
static NOINLINE void target_start(struct thread *thread, const struct target_call *call, const void *code, void *frame)
{
    size_t count = call->count + OWN;
    void **addresses = malloc(count * (sizeof(void *) + sizeof(size_t) + sizeof(unsigned short)));
    struct task *creator = thread->task;
    outlined *run = addresses ? target_run : call->body;
    size_t *sizes = call->sizes;
    unsigned short *kinds = call->kinds;
    task_enter_runtime(creator, frame);
    if (addresses) {
        sizes = (size_t *)(addresses + count);
        kinds = (unsigned short *)(sizes + count);
        addresses[OWN_TASK] = task_create(thread, ompt_task_explicit | ompt_task_target, call->depend, code);
        memcpy(&addresses[OWN_BODY], &call->body, sizeof(void *));
        memcpy(addresses + OWN, call->addresses, call->count * sizeof(*addresses));
        memcpy(sizes + OWN, call->sizes, call->count * sizeof(*sizes));
        memcpy(kinds + OWN, call->kinds, call->count * sizeof(*kinds));
        for (size_t i = 0; i < OWN; i++)
            sizes[i] = 0, kinds[i] = MAP_ALLOC;
    }
    real.GOMP_target_ext(call->device, run, addresses ? count : call->count, addresses ? addresses : call->addresses,
                         sizes, kinds, call->flags, call->depend, call->arguments);
    task_leave_runtime(creator);
    free(addresses);
}

/* Outside all regions, libgomp makes a team of one for a target region with `nowait`. */
EXPORT void GOMP_target_ext(int device, outlined *body, size_t count, void **addresses, size_t *sizes,
                            unsigned short *kinds, unsigned flags, void **depend, void **arguments)
{
    struct thread *thread = provider_enter();
    if (thread && flags & TARGET_NOWAIT)
        thread->task->has_deferred = thread->artificial = true;
    if (thread && flags & TARGET_NOWAIT && real.omp_get_num_devices() == 0 && !real_cancellation) {
        target_start(thread,
                     &(struct target_call){device, body, count, addresses, sizes, kinds, flags, depend, arguments},
                     CODE, FRAME);
        return;
    }
    real.GOMP_target_ext(device, body, count, addresses, sizes, kinds, flags, depend, arguments);
}
