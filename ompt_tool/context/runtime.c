#include "ompt_tool/context/runtime.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#include "base/atomics.h"

struct runtime runtime;
__thread uintptr_t runtime_mark;

static ompt_get_task_info_t task_info_of[2];

static int runtime_ask_task_info(int level, int *flags, ompt_data_t **task, ompt_frame_t **frame,
                                 ompt_data_t **parallel, int *number)
{
    ompt_get_task_info_t ask = task_info_of[runtime_mark != 0];
    return ask ? ask(level, flags, task, frame, parallel, number) : 0;
}

void runtime_add_second(ompt_get_task_info_t get_task_info)
{
    task_info_of[0] = runtime.get_task_info;
    task_info_of[1] = get_task_info;
    store_release(&runtime.get_task_info, runtime_ask_task_info);
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

ompt_data_t *runtime_task_of_copy(ompt_data_t *copy)
{
    ompt_data_t *current = runtime_current_task(NULL);
    return current ? current : copy;
}

void *runtime_symbol(const void *inside, const char *name)
{
    Dl_info here, there;
    void *symbol = dlsym(RTLD_DEFAULT, name), *library;
    if (!dladdr(inside, &here))
        return NULL;
    if (symbol && dladdr(symbol, &there) && here.dli_fbase == there.dli_fbase)
        return symbol;
    library = dlopen(here.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    symbol = library ? dlsym(library, name) : NULL;
    if (library)
        dlclose(library);
    return symbol && dladdr(symbol, &there) && here.dli_fbase == there.dli_fbase ? symbol : NULL;
}

/* Returns the address of libomp's warning level; NULL if it is unknown. The address is found in the code of
 * kmp_set_warnings_off(), which stores 0 there: lea level(%rip), %rax; movl $0, (%rax); ret.
 * kmp_set_warnings_on() would not restore the level. */
static int32_t *libomp_warning_level(const unsigned char *set_off)
{
    static const unsigned char lea[] = {0x48, 0x8d, 0x05}, store[] = {0xc7, 0x00, 0, 0, 0, 0, 0xc3};
    int32_t distance;
    if (memcmp(set_off, lea, sizeof(lea)) != 0 || memcmp(set_off + 7, store, sizeof(store)) != 0)
        return NULL;
    memcpy(&distance, set_off + sizeof(lea), sizeof(distance));
    return (int32_t *)(set_off + 7 + distance);
}

/* For each type of loop, runs a loop that has no iterations. */
static void libomp_run_empty_loops(const void *inside)
{
    /* An ident_t with the flag KMP_IDENT_KMPC that does not say which kind of loop it is. The schedule is
     * kmp_sch_static (kmp.h). */
    static struct {
        int32_t reserved_1, flags, reserved_2, reserved_3;
        const char *source;
    } place = {0, 2, 0, 0, ";blame;blame;0;0;;"};
    static const char *const names[] = {"__kmpc_for_static_init_4", "__kmpc_for_static_init_4u",
                                        "__kmpc_for_static_init_8", "__kmpc_for_static_init_8u"};
    const int32_t thread = 0, schedule = 34;
    void (*end)(void *, int32_t) = (void (*)(void *, int32_t))runtime_symbol(inside, "__kmpc_for_static_fini");
    for (size_t i = 0; end && i < sizeof(names) / sizeof(names[0]); i++) {
        /* 8-byte variables can also be used for the loops with 4-byte variables, because memory is
         * little-endian */
        int64_t low = 1, high = 0, stride = 1;
        int32_t last = 0;
        void (*begin)(void *, int32_t, int32_t, int32_t *, void *, void *, void *, int64_t, int64_t) =
            (void (*)(void *, int32_t, int32_t, int32_t *, void *, void *, void *, int64_t, int64_t))runtime_symbol(
                inside, names[i]);
        if (!begin)
            continue;
        begin(&place, thread, schedule, &last, &low, &high, &stride, 1, 1);
        end(&place, thread);
    }
}

bool runtime_warn_unheard(const void *inside)
{
    const unsigned char *set_off = runtime_symbol(inside, "kmp_set_warnings_off");
    if (!set_off)
        return true; /* other runtimes than libomp print no such warning */
    int32_t *level = libomp_warning_level(set_off);
    if (!level)
        return false;
    int32_t before = *level;
    *level = 0;
    if (before)
        libomp_run_empty_loops(inside);
    *level = before;
    return true;
}
