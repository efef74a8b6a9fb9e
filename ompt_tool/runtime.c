#include "ompt_tool/runtime.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>
#include <strings.h>

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

/* KMP_WARNINGS as libomp reads it. */
static bool is_off(const char *text)
{
    static const char *const words[] = {"0", "no", "false", "off", "disabled", ".false.", ".f."};
    for (size_t i = 0; text && i < sizeof(words) / sizeof(words[0]); i++)
        if (strcasecmp(text, words[i]) == 0)
            return true;
    return false;
}

/* Another runtime in the process, which nobody has begun yet, has the same names. (What one library alone has
 * loaded is not found: that would take dlopen, and the program's heap.) */
static void *symbol_beside(const void *inside, const char *name)
{
    Dl_info here, there;
    void *symbol = dlsym(RTLD_DEFAULT, name);
    bool same =
        symbol && dladdr(inside, &here) && dladdr(symbol, &there) && here.dli_fbase == there.dli_fbase;
    return same ? symbol : NULL;
}

void runtime_warn_unheard(const void *inside)
{
    /* kmp.h: where the call is, with KMP_IDENT_KMPC and no word on the kind of loop; kmp_sch_static. */
    static struct {
        int32_t reserved_1, flags, reserved_2, reserved_3;
        const char *source;
    } place = {0, 2, 0, 0, ";blame;blame;0;0;;"};
    static const char *const names[] = {"__kmpc_for_static_init_4", "__kmpc_for_static_init_4u",
                                        "__kmpc_for_static_init_8", "__kmpc_for_static_init_8u"};
    const int32_t thread = 0, schedule = 34;
    void (*warnings_off)(void) = (void (*)(void))symbol_beside(inside, "kmp_set_warnings_off");
    void (*warnings_on)(void) = (void (*)(void))symbol_beside(inside, "kmp_set_warnings_on");
    void (*end)(void *, int32_t) = (void (*)(void *, int32_t))symbol_beside(inside, "__kmpc_for_static_fini");
    if (!warnings_off || !warnings_on || !end || is_off(getenv("KMP_WARNINGS")))
        return;
    warnings_off();
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        int64_t low = 1, high = 0, stride = 1; /* of either width: little-endian */
        int32_t last = 0;
        void (*begin)(void *, int32_t, int32_t, int32_t *, void *, void *, void *, int64_t, int64_t) =
            (void (*)(void *, int32_t, int32_t, int32_t *, void *, void *, void *, int64_t,
                      int64_t))symbol_beside(inside, names[i]);
        if (!begin)
            continue;
        begin(&place, thread, schedule, &last, &low, &high, &stride, 1, 1);
        end(&place, thread);
    }
    warnings_on();
}
