#include "ompt_tool/capabilities.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Events that the tool can use only together. */
struct group {
    /* what remains unknown without these events, for a message; NULL: nothing can be measured without them */
    const char *without;
    ompt_set_result_t least; /* the weakest answer with which the events are of use */
    struct {
        ompt_callbacks_t event;
        const char *name;
    } events[6];
};

#define EVENT(name) {ompt_callback_##name, #name}

/* docs/call-paths.md, "What the runtime tells", explains which events are registered. */
static const struct group groups[] = {
    {NULL,
     ompt_set_always,
     {EVENT(thread_begin), EVENT(thread_end), EVENT(parallel_begin), EVENT(parallel_end), EVENT(implicit_task),
      EVENT(task_schedule)}},
    {"waiting at barriers and for tasks appears in the row <untold wait>",
     ompt_set_sometimes_paired,
     {EVENT(sync_region_wait)}},
    {"waiting for locks appears in the row <untold wait>",
     ompt_set_always,
     {EVENT(mutex_acquire), EVENT(mutex_acquired), EVENT(mutex_released), EVENT(nest_lock)}},
    {"tasks have no creation contexts, and taskwait with depend appears in the row <untold wait>",
     ompt_set_sometimes,
     {EVENT(task_create)}},
    {"iterations are unknown", ompt_set_sometimes, {EVENT(work)}},
    {"locks have no names", ompt_set_always, {EVENT(lock_init), EVENT(lock_destroy)}},
    {"phases, and all other calls of blame.h, do nothing", ompt_set_sometimes, {EVENT(control_tool)}},
};

__attribute__((format(printf, 3, 4))) static void capabilities_append_loss(char *text, size_t bytes, const char *format,
                                                                           ...)
{
    size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, bytes - used, format, arguments);
    va_end(arguments);
}

static ompt_callback_t capabilities_callback_of(ompt_callbacks_t event, const struct capability_table *table)
{
    for (size_t i = 0; i < table->count; i++)
        if (table->all[i].event == event)
            return table->all[i].callback;
    return NULL;
}

/* Registers the callbacks of a group. Returns the weakest of the runtime's answers, and sets *name to the
 * event that got it. An answer above ompt_set_always comes from a later standard and counts as
 * ompt_set_always. */
static ompt_set_result_t capabilities_ask_group(ompt_set_callback_t set_callback, const struct group *group,
                                                const struct capability_table *table, const char **name)
{
    ompt_set_result_t least = ompt_set_always;
    for (size_t i = 0; i < sizeof(group->events) / sizeof(*group->events) && group->events[i].name; i++) {
        ompt_set_result_t answer =
            set_callback(group->events[i].event, capabilities_callback_of(group->events[i].event, table));
        if (answer >= least)
            continue;
        least = answer;
        *name = group->events[i].name;
    }
    return least;
}

static void capabilities_unregister(ompt_set_callback_t set_callback, const struct group *group)
{
    for (size_t i = 0; i < sizeof(group->events) / sizeof(*group->events) && group->events[i].name; i++)
        set_callback(group->events[i].event, NULL);
}

static bool capabilities_is_lock_group(const struct group *group)
{
    return group->events[0].event == ompt_callback_mutex_acquire;
}

/* GCC's code contains static loops, which libgomp therefore cannot report. */
static bool capabilities_may_be_partial(const struct group *group)
{
    return group->events[0].event == ompt_callback_work;
}

bool capabilities_register(ompt_set_callback_t set_callback, const struct capability_table *table, bool *waits,
                           char *text, size_t bytes)
{
    *text = 0;
    *waits = true;
    for (const struct group *group = groups; group < groups + sizeof(groups) / sizeof(*groups); group++) {
        const char *name = NULL;
        if (!table->locks && capabilities_is_lock_group(group))
            continue;
        ompt_set_result_t least = capabilities_ask_group(set_callback, group, table, &name);
        if (least == ompt_set_always)
            continue;
        if (!group->without) {
            snprintf(text, bytes, "%s", name);
            capabilities_unregister(set_callback, group);
            return false;
        }
        *waits &= group->events[0].event != ompt_callback_sync_region_wait;
        if (least < group->least)
            capabilities_unregister(set_callback, group);
        if (least >= group->least && capabilities_may_be_partial(group))
            continue;
        capabilities_append_loss(text, bytes, "%s%s %s (%s)", *text ? ", " : "",
                                 least < group->least ? "no" : "not every", name, group->without);
    }
    return true;
}
