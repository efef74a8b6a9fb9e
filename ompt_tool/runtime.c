#include "ompt_tool/runtime.h"

#include <stddef.h>

#include "base/os.h"
#include "cct/region.h"

struct runtime runtime;

struct region *runtime_region(const ompt_data_t *parallel_data)
{
    struct region *region = parallel_data ? parallel_data->ptr : NULL;
    return region && region->epoch == region_epoch ? region : NULL;
}

/* An ancestor, while the runtime may be in the middle of changing its chain of tasks: read so that a wild
 * pointer is a failure and not a fault. */
static bool read_carefully(struct task_level *level, ompt_frame_t *addresses, const ompt_frame_t *frame,
                           const ompt_data_t *task_data, const ompt_data_t *parallel_data)
{
    const struct os_part all[] = {
        {addresses, (uintptr_t)frame, sizeof(*addresses)},
        {&level->data, (uintptr_t)task_data, sizeof(level->data)},
        {&level->region, (uintptr_t)parallel_data, sizeof(level->region)},
    };
    struct os_part parts[3];
    struct region record;
    size_t count = 0;
    level->region = NULL;
    for (size_t i = 0; i < 3; i++)
        if (all[i].from)
            parts[count++] = all[i];
    if (count && !os_copy_parts(parts, count))
        return false;
    if (!level->region)
        return true;
    if (!os_copy_memory(&record, (uintptr_t)level->region, sizeof(record)))
        return false;
    if (record.epoch != region_epoch || !record.home)
        level->region = NULL;
    return true;
}

bool runtime_task_level(int ancestor, struct task_level *level)
{
    ompt_data_t *task_data = NULL, *parallel_data = NULL;
    ompt_frame_t *frame = NULL;
    level->flags = level->thread_num = 0;
    level->data = 0;
    if (!runtime.get_task_info)
        return false;
    if (runtime.get_task_info(ancestor, &level->flags, &task_data, &frame, &parallel_data,
                              &level->thread_num) != 2)
        return false;
    ompt_frame_t addresses = {0};
    if (ancestor == 0) {
        addresses = frame ? *frame : addresses;
        level->region = runtime_region(parallel_data);
        level->data = task_data ? task_data->value : 0;
    } else if (!read_carefully(level, &addresses, frame, task_data, parallel_data)) {
        return false;
    }
    level->exit = (uintptr_t)addresses.exit_frame.ptr;
    level->enter = (uintptr_t)addresses.enter_frame.ptr;
    return true;
}

struct region *runtime_current_region(void)
{
    ompt_data_t *parallel_data = NULL;
    int team_size;
    if (!runtime.get_parallel_info || runtime.get_parallel_info(0, &parallel_data, &team_size) != 2)
        return NULL;
    return runtime_region(parallel_data);
}

ompt_data_t *runtime_current_task(void)
{
    ompt_data_t *task_data = NULL;
    if (!runtime.get_task_info || runtime.get_task_info(0, NULL, &task_data, NULL, NULL, NULL) != 2)
        return NULL;
    return task_data;
}
