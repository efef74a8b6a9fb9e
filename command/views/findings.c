/* The findings view. */
#include <stdlib.h>
#include <string.h>

#include "command/findings/findings.h"
#include "command/rows/metric.h"
#include "command/tables/conservation.h"
#include "command/text/format.h"
#include "command/text/memory.h"
#include "command/views/text.h"

#define INDENT 4

static void print_indented(FILE *out, const char *text, const struct view_style *style)
{
    char *clean = format_fit(text, SIZE_MAX, style->utf8);
    if (*clean)
        format_indented(out, clean, INDENT, style->columns);
    free(clean);
}

/* Returns whether a title has a number, given with its unit, and not only as the end of a longer number. */
static bool title_has(const char *title, const char *number)
{
    const char *at = strstr(title, number);
    while (at && at > title && (at[-1] == '.' || (at[-1] >= '0' && at[-1] <= '9')))
        at = strstr(at + 1, number);
    return at;
}

/* Prints "0.29 s (+- 0.03 s) of lock wait, 14.0 % of the effort of 2.09 thread-seconds; the run could be at
 * most 0.15 s shorter", without the numbers that the title has. */
static void print_numbers(FILE *out, const struct finding *finding, double whole_s, const struct view_style *style)
{
    char said[FORMAT_NUMBER_BYTES + 24], error[FORMAT_NUMBER_BYTES + 16] = "";
    char seconds[2 * FORMAT_NUMBER_BYTES + 96] = "", share[3 * FORMAT_NUMBER_BYTES + 80] = "";
    char gain[FORMAT_NUMBER_BYTES + 48] = "";
    bool timed = finding->seconds > 0 && finding->metric != METRIC_SAMPLES;
    if (finding->error > 0)
        snprintf(error, sizeof error, " (+- %s s)", DECIMAL(finding->error, 2));
    snprintf(said, sizeof said, "%s s", DECIMAL(finding->seconds, 2));
    if (timed && !title_has(finding->title, said))
        snprintf(seconds, sizeof seconds, "%s%s of %s", said, error, metric_title(finding->metric));
    snprintf(said, sizeof said, "%s %% of the effort", DECIMAL(finding->share, 0));
    if (timed && !title_has(finding->title, said))
        snprintf(share, sizeof share, "%s%s %% of the effort of %s thread-seconds%s", *seconds ? ", " : "",
                 DECIMAL(finding->share, 1), DECIMAL(whole_s, 2), *seconds ? "" : error);
    if (finding->gain_s > 0)
        snprintf(gain, sizeof gain, "%sthe run could be at most %s s shorter", *seconds || *share ? "; " : "",
                 DECIMAL(finding->gain_s, 2));
    char *numbers = memory_text("%s%s%s", seconds, share, gain);
    print_indented(out, numbers, style);
    free(numbers);
}

static void print_finding(FILE *out, size_t number, const struct finding *finding, double whole_s,
                          const struct view_style *style)
{
    size_t columns = style->columns - INDENT;
    char *title = format_fit(finding->title, SIZE_MAX, style->utf8);
    char *place = format_fit(finding->place, columns, style->utf8);
    fprintf(out, "\n%2zu. %s", number, format_strong(style->colour));
    format_continued(out, title, INDENT, style->columns);
    fputs(format_plain(style->colour), out);
    if (*place)
        fprintf(out, "%*s%s\n", INDENT, "", place);
    print_numbers(out, finding, whole_s, style);
    print_indented(out, finding->evidence, style);
    print_indented(out, finding->advice, style);
    free(title);
    free(place);
}

void view_text_findings(FILE *out, const struct profile *profile, const struct findings *findings,
                        const struct view_style *style)
{
    size_t shown = 0;
    char base[400];
    double nobody_s = ledger_nobody_s(profile, findings->whole_s);
    view_text_header(out, profile, style);
    snprintf(
        base, sizeof base,
        "Percentages are of the effort, %.40s s of thread time: work, %slock wait, no core, blocked and mpi wait of "
        "all threads. A finding has at least 5 %% of what had a core (%.40s s).",
        DECIMAL(findings->whole_s, 2), profile_without_openmp(profile) ? "" : "idleness, overhead, ",
        DECIMAL(findings->core_s, 2));
    if (nobody_s > 0)
        snprintf(base + strlen(base), sizeof base - strlen(base),
                 " In addition, there were %.40s s of thread time in which no thread was busy.", DECIMAL(nobody_s, 2));
    if (findings->count)
        format_paragraph(out, base, style->columns);
    for (size_t i = 0; i < findings->count; i++)
        if (!(findings->finding[i].share < style->least_percent))
            print_finding(out, ++shown, &findings->finding[i], findings->whole_s, style);
    if (!findings->count)
        fputs("\nNothing stands out.\n", out);
    else if (shown < findings->count)
        fprintf(out, "\n%zu finding%s with a smaller share left out; --min 0 shows all\n", findings->count - shown,
                findings->count - shown == 1 ? "" : "s");
}
