/* How much is a finding, and how one is put down. */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "report/findings/rules.h"
#include "report/rows/label.h"
#include "report/rows/own.h"
#include "report/text/grow.h"

bool is_enough(const struct gathering *gathering, double seconds, double per_sample)
{
    double deviation = sqrt(per_sample * gathering->period_s * (seconds > 0 ? seconds : 0));
    return percent_of_program(gathering, seconds - SIGMAS * deviation) >= LEAST_PERCENT;
}

bool is_enough_idleness(const struct gathering *gathering, double seconds)
{
    return seconds * gathering->idle_to_wall >= LEAST_GAIN_S &&
           is_enough(gathering, seconds, gathering->threads - 1);
}

double idleness_deviation(const struct gathering *gathering, double seconds)
{
    return sqrt((gathering->threads - 1) * gathering->period_s * (seconds > 0 ? seconds : 0));
}

double percent_of_program(const struct gathering *gathering, double seconds)
{
    return gathering->effort_s > 0 && seconds > 0 ? 100 * seconds / gathering->effort_s : 0;
}

double bound_of_cost(const struct gathering *gathering, double seconds, double idle_ns)
{
    return fmin(seconds, seconds * gathering->busy_to_wall + idle_ns * 1e-9 * gathering->idle_to_wall);
}

double host_idle_once(struct gathering *gathering, uint32_t row, uint32_t stamp)
{
    uint32_t number = gathering->unit_of[row];
    if (number == UNIT_NONE)
        return 0;
    struct unit *host = &gathering->unit[gathering->unit[number].host];
    if (host->stamp == stamp)
        return 0;
    host->stamp = stamp;
    return host->host_idle_ns;
}

uint32_t next_stamp(struct gathering *gathering)
{
    return ++gathering->stamp;
}

double busy_threads(const struct profile_metric *sum)
{
    double own = sum->work + sum->overhead + sum->lock_wait;
    return sum->inverse_busy > 0 ? own / sum->inverse_busy : 0;
}

const char *number_text(struct gathering *gathering, double value, int decimals)
{
    size_t slots = sizeof gathering->number / sizeof *gathering->number;
    return format_decimal(gathering->number[gathering->next_number++ % slots], value, decimals);
}

char *finding_text(struct gathering *gathering, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *clean = format_vprintable(format, arguments);
    va_end(arguments);
    gathering->no_memory |= !clean;
    return clean;
}

void shorten_name(char to[NAME_BYTES], const char *name)
{
    char *clean = format_clean(name, true);
    format_shorten(to, NAME_BYTES, clean ? clean : "", NAME_COLUMNS, false);
    free(clean);
}

void put_finding(struct gathering *gathering, const struct finding *finding)
{
    struct findings *findings = gathering->findings;
    if (!grow_list(&findings->finding, &gathering->room, findings->count, sizeof *findings->finding)) {
        gathering->no_memory = true;
        free(finding->title);
        free(finding->evidence);
        free(finding->advice);
        return;
    }
    struct finding *put = &findings->finding[findings->count++];
    *put = *finding;
    put->share = fmin(100, percent_of_program(gathering, finding->seconds));
    /* Many threads on few cores wait longer together than the run is long, even divided by the cores. */
    double wall_s = profile_wall_s(gathering->profile);
    if (wall_s > 0)
        put->gain_s = fmin(finding->gain_s, wall_s);
    if (put->row != ROW_NONE)
        put->row = rows_own(gathering->rows, put->row);
    put->place = put->row == ROW_NONE
                     ? strdup("")
                     : view_own_label(gathering->rows, put->row, finding->metric, PLACE_COLUMNS, false);
    gathering->no_memory |= !put->title || !put->evidence || !put->advice || !put->place;
}
