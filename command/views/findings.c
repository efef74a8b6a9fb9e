/* The findings view. */
#include <stdlib.h>

#include "command/findings/findings.h"
#include "command/rows/metric.h"
#include "command/tables/conservation.h"
#include "command/text/format.h"
#include "command/views/text.h"

#define INDENT 4

static void print_indented(FILE *out, const char *text, const struct view_style *style)
{
    char *clean = format_fit(text, SIZE_MAX, style->utf8);
    if (*clean)
        format_indented(out, clean, INDENT, style->columns);
    free(clean);
}

static void print_finding(FILE *out, size_t number, const struct finding *finding, const struct view_style *style)
{
    char numbers[256];
    bool timed = finding->seconds > 0 && finding->metric != METRIC_SAMPLES;
    int used = 0;
    size_t columns = style->columns - INDENT;
    char *title = format_fit(finding->title, SIZE_MAX, style->utf8);
    char *place = format_fit(finding->place, columns, style->utf8);
    fprintf(out, "\n%2zu. %s", number, format_strong(style->colour));
    format_continued(out, title, INDENT, style->columns);
    fputs(format_plain(style->colour), out);
    if (*place)
        fprintf(out, "%*s%s\n", INDENT, "", place);
    numbers[0] = '\0';
    if (timed)
        used = snprintf(numbers, sizeof numbers, "%.40s s of %s, %.40s %%", DECIMAL(finding->seconds, 3),
                        metric_title(finding->metric), DECIMAL(finding->share, 1));
    if (finding->gain_s > 0)
        snprintf(numbers + used, sizeof numbers - (size_t)used, "%sthe run could be at most %.40s s shorter",
                 used ? "; " : "", DECIMAL(finding->gain_s, 2));
    print_indented(out, numbers, style);
    print_indented(out, finding->evidence, style);
    print_indented(out, finding->advice, style);
    free(title);
    free(place);
}

void view_text_findings(FILE *out, const struct profile *profile, const struct findings *findings,
                        const struct view_style *style)
{
    size_t shown = 0;
    char base[260];
    double nobody_s = ledger_nobody_s(profile, findings->whole_s);
    view_text_header(out, profile, style);
    snprintf(base, sizeof base,
             "Percentages are of the effort, %.40s s of thread time: work, idleness, overhead, lock wait, no core, "
             "blocked and mpi wait of all threads.",
             DECIMAL(findings->whole_s, 2));
    if (nobody_s > 0)
        snprintf(base + strlen(base), sizeof base - strlen(base),
                 " In addition, there were %.40s s of thread time in which no thread was busy.", DECIMAL(nobody_s, 2));
    if (findings->count)
        format_paragraph(out, base, style->columns);
    for (size_t i = 0; i < findings->count; i++)
        if (!(findings->finding[i].share < style->least_percent))
            print_finding(out, ++shown, &findings->finding[i], style);
    if (!findings->count)
        fputs("\nNothing stands out.\n", out);
    else if (shown < findings->count)
        fprintf(out, "\n%zu finding%s with a smaller share left out; --min 0 shows all\n", findings->count - shown,
                findings->count - shown == 1 ? "" : "s");
}
