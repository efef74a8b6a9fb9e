#include "ompt_tool/counters/counters_plan.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "ompt_tool/counters/papi.h"
#include "ompt_tool/session/session.h"

#define LEAST_CLOCK_PERIOD 10000u /* minimum time in ns between overflows of the kernel's clocks */
#define WHY_BYTES          256u

struct counters_plan counters_plan;

static bool user_only; /* true: for all events, only what the program does in user mode is counted */

static const char *counter_refusal_reason(int cause)
{
    switch (cause) {
    case ENOENT:
    case ENODEV:
    case EINVAL:
    case EOPNOTSUPP:
        return "this machine has no such counter";
    case EBUSY:
        return "all hardware counters that could count it are in use";
    case EACCES:
    case EPERM:
        return "this is not permitted, see /proc/sys/kernel/perf_event_paranoid";
    default:
        return strerror(cause);
    }
}

/* Returns true if the kernel can count all these events together for this thread. Otherwise returns false
 * with the reason in errno. */
static bool counter_kernel_can_count(const struct perf_event *events, uint32_t count)
{
    struct perf_group group;
    bool works = perf_group_open(&group, events, count);
    int cause = errno;
    if (works)
        perf_group_close(&group);
    errno = cause;
    return works;
}

static void counter_leave_kernel_out(struct papi_event *event)
{
    for (uint32_t part = 0; part < event->parts; part++)
        perf_event_user_only(&event->part[part]);
}

static bool counter_works_alone(const struct papi_event *event)
{
    struct papi_event tried = *event;
    if (user_only)
        counter_leave_kernel_out(&tried);
    return counter_kernel_can_count(tried.part, tried.parts);
}

/* Returns true if the user may count the event. Unprivileged users may often count only what their programs
 * do in user mode; the event is then restricted to user mode, and one line on stderr says so. */
static bool counter_make_permitted(struct papi_event *event)
{
    if (user_only)
        counter_leave_kernel_out(event);
    if (counter_kernel_can_count(event->part, event->parts))
        return true;
    if (user_only || (errno != EACCES && errno != EPERM))
        return false;
    struct papi_event reduced = *event;
    counter_leave_kernel_out(&reduced);
    if (!counter_kernel_can_count(reduced.part, reduced.parts)) {
        errno = EACCES;
        return false;
    }
    user_only = true;
    *event = reduced;
    log_line_of_job("counters do not include what the kernel does for the program: this is not permitted, see "
                    "/proc/sys/kernel/perf_event_paranoid",
                    NULL);
    return true;
}

static void refuse_counter(const char *variable, const char *name, const char *why, const char *instead)
{
    struct counter_nearest nearest;
    char names[COUNTER_NEAREST * (COUNTER_NAME_BYTES + 2)] = "";
    papi_find_nearest(name, counter_works_alone, &nearest);
    for (unsigned i = 0; i < nearest.count; i++) {
        strcat(names, i ? ", " : "");
        strcat(names, nearest.name[i]);
    }
    log_line_of_job(variable, "=", name, ": ", why, "; ",
                    nearest.count ? "the nearest counters that work are " : "no counter works on this machine", names,
                    "; ", instead, NULL);
}

static bool counter_is_planned(const char *name)
{
    for (uint32_t i = 0; i < counters_plan.count; i++)
        if (strcmp(counters_plan.entry[i].name, name) == 0)
            return true;
    return false;
}

/* Adds the counter to the plan. Returns false if the counter cannot be counted together with those that are
 * already in the plan. */
static bool counters_plan_add(const char *name, const struct papi_event *event)
{
    uint32_t first = counters_plan.events;
    if (first + event->parts > PERF_GROUP_EVENTS)
        return false;
    memcpy(&counters_plan.event[first], event->part, event->parts * sizeof(event->part[0]));
    if (!counter_kernel_can_count(counters_plan.event, first + event->parts))
        return false;
    struct counters_plan_entry *entry = &counters_plan.entry[counters_plan.count++];
    *entry = (struct counters_plan_entry){.first = first, .parts = event->parts, .subtract = event->subtract};
    strcpy(entry->name, name);
    counters_plan.events += event->parts;
    snprintf(counters_plan.text + strlen(counters_plan.text), sizeof(counters_plan.text) - strlen(counters_plan.text),
             "%s%s", first ? "\n" : "", name);
    return true;
}

static void counters_plan_counter(const char *name)
{
    struct papi_event event;
    char why[WHY_BYTES];
    const char *instead = "this counter is left out";
    if (counter_is_planned(name))
        return;
    if (counters_plan.count == PROFILE_COUNTERS)
        log_line_of_job("BLAME_COUNTERS=", name, ": at most 8 counters can be used; ", instead, NULL);
    else if (!papi_find(name, &event, why, sizeof(why)))
        refuse_counter("BLAME_COUNTERS", name, why, instead);
    else if (!counter_make_permitted(&event))
        refuse_counter("BLAME_COUNTERS", name, counter_refusal_reason(errno), instead);
    else if (!counters_plan_add(name, &event))
        log_line_of_job("BLAME_COUNTERS=", name, ": cannot be counted together with the counters named before it; ",
                        instead, NULL);
}

static void counters_plan_sample(const char *text)
{
    struct papi_event event;
    struct perf_group group;
    char name[COUNTER_NAME_BYTES], why[WHY_BYTES];
    uint64_t period;
    const char *instead = "using the clock";
    if (!counter_names_split(text, name, &period)) {
        log_line_of_job("BLAME_SAMPLE=", text, ": expected EVENT@PERIOD, with a PERIOD from 1 to 10000000000 events; ",
                        instead, NULL);
        return;
    }
    if (!papi_find(name, &event, why, sizeof(why))) {
        refuse_counter("BLAME_SAMPLE", name, why, instead);
        return;
    }
    if (event.parts != 1 || !counter_make_permitted(&event)) {
        refuse_counter("BLAME_SAMPLE", name,
                       event.parts != 1 ? "it is a sum of several counters" : counter_refusal_reason(errno), instead);
        return;
    }
    if (perf_event_is_clock(&event.part[0]) && period < LEAST_CLOCK_PERIOD) {
        log_line_of_job("BLAME_SAMPLE=", text,
                        ": the kernel's clocks overflow at most once in 10000 ns; using a "
                        "period of 10000",
                        NULL);
        period = LEAST_CLOCK_PERIOD;
    }
    if (!perf_overflow_open(&group, &event.part[0], period, 0)) {
        refuse_counter("BLAME_SAMPLE", name, "it can be counted, but cannot interrupt the program", instead);
        return;
    }
    perf_group_close(&group);
    counters_plan.sample_event = event.part[0];
    counters_plan.sample_period = period;
    snprintf(counters_plan.sample_text, sizeof(counters_plan.sample_text), "%s@%llu", name, (unsigned long long)period);
}

void counters_plan_init(void)
{
    const char *list = session.options.counters, *sample = session.options.sample;
    char name[COUNTER_NAME_BYTES], why[WHY_BYTES];
    if (!list && !sample)
        return;
    if (!papi_open(why, sizeof(why))) {
        log_line_of_job(list ? "BLAME_COUNTERS=" : "BLAME_SAMPLE=", list ? list : sample,
                        ": PAPI cannot be used: ", why, list ? "; no counters are used" : "",
                        sample ? "; using the clock" : "", NULL);
        return;
    }
    bool named = !list;
    for (; list && counter_names_next(&list, name); named = true)
        counters_plan_counter(name);
    if (!named)
        log_line_of_job("BLAME_COUNTERS=", session.options.counters,
                        ": expected names of counters, separated by commas; no counters are used", NULL);
    if (sample)
        counters_plan_sample(sample);
    papi_close();
}

const char *counters_plan_text(void)
{
    return counters_plan.count ? counters_plan.text : NULL;
}

const char *counters_plan_sample_text(void)
{
    return counters_plan.sample_period ? counters_plan.sample_text : NULL;
}

uint64_t counters_plan_sample_period_ns(void)
{
    return counters_plan.sample_period * 1000000000ull;
}
