#include "ompt_tool/runtime.h"

#include <stddef.h>

#include "cct/region.h"

struct runtime runtime;

struct region *runtime_region(const ompt_data_t *parallel_data)
{
    struct region *region = parallel_data ? parallel_data->ptr : NULL;
    return region && region->epoch == region_epoch ? region : NULL;
}

bool runtime_task_level(int ancestor, struct task_level *level)
{
    ompt_data_t *task_data = NULL, *parallel_data = NULL;
    ompt_frame_t *frame = NULL;
    level->flags = level->thread_num = 0;
    if (!runtime.get_task_info)
        return false;
    if (runtime.get_task_info(ancestor, &level->flags, &task_data, &frame, &parallel_data,
                              &level->thread_num) != 2)
        return false;
    level->exit = frame ? (uintptr_t)frame->exit_frame.ptr : 0;
    level->enter = frame ? (uintptr_t)frame->enter_frame.ptr : 0;
    level->region = runtime_region(parallel_data);
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
