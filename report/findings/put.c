/* How much is a finding, and how one is put down. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/findings/rules.h"
#include "report/rows/label.h"
#include "report/rows/own.h"
#include "report/text/memory.h"

bool is_enough(const struct inquiry *inquiry, double seconds)
{
    return percent_of_program(inquiry, seconds) >= LEAST_PERCENT;
}

bool is_enough_idleness(const struct inquiry *inquiry, double seconds)
{
    return seconds * inquiry->idle_to_wall >= LEAST_GAIN_S && is_enough(inquiry, seconds);
}

double percent_of_program(const struct inquiry *inquiry, double seconds)
{
    return inquiry->whole_s > 0 && seconds > 0 ? 100 * seconds / inquiry->whole_s : 0;
}

double bound_of_cost(const struct inquiry *inquiry, double seconds, double idle_ns)
{
    return fmin(seconds, seconds * inquiry->busy_to_wall + idle_ns * 1e-9 * inquiry->idle_to_wall);
}

double host_idle_once(struct inquiry *inquiry, uint32_t row, uint32_t stamp)
{
    uint32_t number = inquiry->unit_of[row];
    if (number == UNIT_NONE)
        return 0;
    struct unit *host = &inquiry->unit[inquiry->unit[number].host];
    if (host->stamp == stamp)
        return 0;
    host->stamp = stamp;
    return host->host_idle_ns;
}

uint32_t next_stamp(struct inquiry *inquiry)
{
    return ++inquiry->stamp;
}

double busy_threads(const struct profile_sums *sum)
{
    return sum->inverse_busy > 0 ? profile_sums_own(sum) / sum->inverse_busy : 0;
}

const char *name_of_call(const struct rows *rows, uint32_t row)
{
    static const char *const prefixes[] = {"__GI_", "__libc_", "__", "_"};
    while (rows->row[row].foreign && rows->row[rows->row[row].parent].foreign)
        row = rows->row[row].parent;
    if (row_is_holder(&rows->row[row]))
        return "the interpreter's lock";
    const char *name = rows->row[row].label->name;
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            name += strlen(prefixes[i]);
    return name;
}

void shorten_name(char to[NAME_BYTES], const char *name)
{
    char *clean = format_clean(name, true);
    format_shorten(to, NAME_BYTES, clean, NAME_COLUMNS, false);
    free(clean);
}

/* A finding that may be one by chance alone says so, in the one line that a summary has, too. */
static void put_error(const struct inquiry *inquiry, struct finding *put)
{
    char *title = put->title, *evidence = put->evidence;
    double value =
        put->metric == METRIC_CORE_IDLENESS ? -put->seconds : put->seconds; /* found where it is negative */
    put->error = error_of(&inquiry->error, put->metric, value, put->basis);
    if (is_enough(inquiry, put->seconds - put->error))
        return;
    put->title = memory_text("perhaps %s", title);
    put->evidence = memory_text("%s; +- %s s, so it may be less", evidence, DECIMAL(put->error, 2));
    free(title);
    free(evidence);
}

void put_finding(struct inquiry *inquiry, const struct finding *finding)
{
    struct findings *findings = inquiry->findings;
    memory_grow(&findings->finding, &inquiry->room, findings->count, sizeof *findings->finding);
    struct finding *put = &findings->finding[findings->count++];
    *put = *finding;
    put->share = fmin(100, percent_of_program(inquiry, finding->seconds));
    if (finding->sampled)
        put_error(inquiry, put);
    /* Many threads on few cores wait longer together than the run is long, even divided by the cores. */
    double wall_s = profile_wall_s(inquiry->profile);
    if (wall_s > 0)
        put->gain_s = fmin(finding->gain_s, wall_s);
    if (put->row != ROW_NONE)
        put->row = rows_own(inquiry->rows, put->row);
    put->place = put->row == ROW_NONE
                     ? memory_text("%s", "")
                     : view_own_label(inquiry->rows, put->row, finding->metric, PLACE_COLUMNS, false);
}
