#include "ompt_tool/runtime.h"

#include <stddef.h>

#include "cct/region.h"

struct runtime runtime;

struct region *runtime_region(const ompt_data_t *parallel_data)
{
    struct region *region = parallel_data ? parallel_data->ptr : NULL;
    return region && region->epoch == region_epoch ? region : NULL;
}

ompt_data_t *runtime_current_task(uintptr_t *exit)
{
    ompt_data_t *task_data = NULL;
    ompt_frame_t *frame = NULL;
    if (!runtime.get_task_info || runtime.get_task_info(0, NULL, &task_data, &frame, NULL, NULL) != 2)
        return NULL;
    if (exit)
        *exit = frame ? (uintptr_t)frame->exit_frame.ptr : 0;
    return task_data;
}
