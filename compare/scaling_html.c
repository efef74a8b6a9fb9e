#include "compare/scaling_html.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/rows/metric.h"
#include "report/text/format.h"
#include "report/text/memory.h"

#define WIDTH      460.0
#define HEIGHT     280.0
#define LEFT       48.0
#define RIGHT      14.0
#define TOP        14.0
#define BOTTOM     38.0
#define SPARK      140.0 /* of a row's curve */
#define SPARK_HIGH 34.0
#define LABEL      90
#define LEAST_LOST 0.0005

/* The colours of the report's page (html/page/src/style.css). */
static const char style_sheet[] =
    ":root{--paper:#faf9f6;--card:#fff;--ink:#1e2126;--muted:#636a75;--rule:#e5e2da;--accent:#0b5cad;--warn:#8a3b00;"
    "--work:#3b82c4;--idleness:#e69f00;--overhead:#b26a98;--lock-wait:#d55e00;--no-core:#189a74;--blocked:#8d8778;--mpi-wait:#6a63b8}"
    "@media(prefers-color-scheme:dark){:root{--paper:#14161a;--card:#1a1d22;--ink:#dcdad4;--muted:#969ca6;--rule:#2a2e36;--accent:#7db8ef;--warn:#f2b880;"
    "--work:#4a90cf;--idleness:#d99a1c;--overhead:#b5769f;--lock-wait:#d9692a;--no-core:#2fae88;--blocked:#9c9586;--mpi-wait:#8d86d6}}"
    "body{margin:0 auto;max-width:1460px;padding:24px;background:var(--paper);color:var(--ink);font:14px/1.5 Inter,system-ui,sans-serif}"
    "h1{font-size:20px;margin:0 0 4px}h2{font-size:15px;margin:0 0 8px}p{margin:4px 0 12px;max-width:100ch}.muted{color:var(--muted)}"
    ".plots{display:flex;flex-wrap:wrap;gap:16px;margin:16px 0}.card{background:var(--card);border:1px solid var(--rule);border-radius:6px;padding:14px;overflow-x:auto}"
    ".plots .card{flex:1 1 400px}.plots svg{width:100%;height:auto;max-width:560px}"
    "svg text{fill:var(--muted);font-size:11px}.grid{stroke:var(--rule)}.ideal{stroke:var(--muted);stroke-dasharray:4 4;fill:none}.line{stroke:var(--accent);stroke-width:2;fill:none}"
    ".dot{fill:var(--accent)}.model{stroke:var(--muted);stroke-dasharray:3 3;fill:none}"
    "table{border-collapse:collapse;width:100%}th{text-align:left;color:var(--muted);font-weight:500;white-space:nowrap}td,th{padding:4px 10px 4px 0;border-bottom:1px solid var(--rule);vertical-align:middle}"
    ".w{white-space:nowrap}.n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}code{font:12px/1.4 ui-monospace,Menlo,\"DejaVu Sans Mono\",monospace;overflow-wrap:anywhere}"
    ".key{display:inline-block;width:10px;height:10px;border-radius:2px;margin:0 4px 0 12px}.key:first-child{margin-left:0}";

static void put_text(FILE *out, const char *text)
{
    char *clean = format_clean(text, true);
    for (const char *at = clean; *at; at++)
        if (*at == '&' || *at == '<' || *at == '>' || *at == '"' || *at == '\'')
            fprintf(out, "&#%d;", *at);
        else
            putc(*at, out);
    free(clean);
}

static const struct scaling_point *last_of(const struct scaling *scaling)
{
    return &scaling->point[scaling->count - 1];
}

/* Numbers of threads go along by their logarithms. */
static double x_of(const struct scaling *scaling, double p)
{
    double first = log2(scaling->point[0].p), last = log2(last_of(scaling)->p);
    return LEFT + (log2(p) - first) / (last - first) * (WIDTH - LEFT - RIGHT);
}

static double y_of(double part)
{
    return HEIGHT - BOTTOM - part * (HEIGHT - TOP - BOTTOM);
}

static void begin_plot(FILE *out, const char *title)
{
    fprintf(out, "<div class=card><h2>%s</h2><svg viewBox=\"0 0 %.0f %.0f\" role=img aria-label=\"%s\">", title, WIDTH, HEIGHT, title);
}

/* A line across for each of four parts of `most`, and the numbers below. */
static void put_axes(FILE *out, const struct scaling *scaling, const struct scaling_style *style, double most, const char *unit)
{
    for (int i = 0; i <= 4; i++) {
        double y = y_of(i / 4.0);
        fprintf(out, "<line class=grid x1=%.0f x2=%.0f y1=%.1f y2=%.1f /><text x=%.0f y=%.1f text-anchor=end>%s%s</text>", LEFT, WIDTH - RIGHT, y, y, LEFT - 6, y + 4,
                DECIMAL(most * i / 4, most < 4 ? 1 : 0), unit);
    }
    for (size_t i = 0; i < scaling->count; i++)
        fprintf(out, "<text x=%.1f y=%.0f text-anchor=middle>%s</text>", x_of(scaling, scaling->point[i].p), HEIGHT - BOTTOM + 16, DECIMAL(scaling->point[i].p, 0));
    fprintf(out, "<text x=%.0f y=%.0f text-anchor=middle>%s</text>", (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 6, style->by);
}

static double speed_up(const struct scaling_point *point)
{
    return point->speed_up;
}

static double ideal_speed_up(const struct scaling_point *point)
{
    return point->efficiency > 0 ? point->speed_up / point->efficiency : 0;
}

static double efficiency(const struct scaling_point *point)
{
    return 100 * point->efficiency;
}

static double whole(const struct scaling_point *point)
{
    (void)point;
    return 100;
}

static void put_curve(FILE *out, const struct scaling *scaling, const char *class, double (*of)(const struct scaling_point *), double most)
{
    fprintf(out, "<polyline class=%s points=\"", class);
    for (size_t i = 0; i < scaling->count; i++)
        fprintf(out, "%.1f,%.1f ", x_of(scaling, scaling->point[i].p), y_of(of(&scaling->point[i]) / most));
    fputs("\"/>", out);
}

static void put_plot(FILE *out, const struct scaling *scaling, const struct scaling_style *style, const char *title, double (*of)(const struct scaling_point *),
                     double (*ideal)(const struct scaling_point *), const char *unit)
{
    double most = 0;
    for (size_t i = 0; i < scaling->count; i++)
        most = fmax(most, fmax(of(&scaling->point[i]), ideal(&scaling->point[i])));
    begin_plot(out, title);
    put_axes(out, scaling, style, most, unit);
    put_curve(out, scaling, "ideal", ideal, most);
    put_curve(out, scaling, "line", of, most);
    for (size_t i = 0; i < scaling->count; i++) {
        const struct scaling_point *point = &scaling->point[i];
        fprintf(out, "<circle class=dot cx=%.1f cy=%.1f r=4><title>%s %s: %s%s</title></circle>", x_of(scaling, point->p), y_of(of(point) / most),
                DECIMAL(point->p, 0), style->by, DECIMAL(of(point), 2), unit);
    }
    fputs("</svg></div>", out);
}

/* What the thread time of each number consists of, against what the first one's would be. */
static void put_parts(FILE *out, const struct scaling *scaling, const struct scaling_style *style)
{
    double most = 0, wide = fmin(46, (WIDTH - LEFT - RIGHT) / (double)scaling->count * 0.6);
    for (size_t i = 0; i < scaling->count; i++)
        most = fmax(most, scaling->point[i].effort_s);
    const char *unit = comparison_unit(scaling->comparison);
    char *title = memory_text("Thread time, %s", unit);
    begin_plot(out, title);
    free(title);
    for (int i = 0; i <= 4; i++)
        fprintf(out, "<line class=grid x1=%.0f x2=%.0f y1=%.1f y2=%.1f /><text x=%.0f y=%.1f text-anchor=end>%s</text>", LEFT, WIDTH - RIGHT, y_of(i / 4.0), y_of(i / 4.0),
                LEFT - 6, y_of(i / 4.0) + 4, DECIMAL(most * i / 4, most < 4 ? 2 : 0));
    for (size_t i = 0; i < scaling->count; i++) {
        double x = LEFT + ((double)i + 0.5) / (double)scaling->count * (WIDTH - LEFT - RIGHT), sum = 0;
        for (size_t m = 0; m < METRIC_PARTS; m++) {
            double value = scaling_inclusive(scaling, 0, i, metric_parts[m]);
            if (value <= 0)
                continue;
            fprintf(out, "<rect x=%.1f width=%.1f y=%.1f height=%.1f fill=\"var(--%s)\"><title>%s %s: %s %s %s</title></rect>", x - wide / 2, wide,
                    y_of((sum + value) / most), y_of(sum / most) - y_of((sum + value) / most), metric_word[metric_parts[m]], DECIMAL(scaling->point[i].p, 0), style->by,
                    DECIMAL(value, 3), unit, metric_title(metric_parts[m]));
            sum += value;
        }
        fprintf(out, "<line class=ideal x1=%.1f x2=%.1f y1=%.1f y2=%.1f /><text x=%.1f y=%.0f text-anchor=middle>%s</text>", x - wide / 2 - 4, x + wide / 2 + 4,
                y_of(scaling->point[i].ideal_s / most), y_of(scaling->point[i].ideal_s / most), x, HEIGHT - BOTTOM + 16, DECIMAL(scaling->point[i].p, 0));
    }
    fprintf(out, "<text x=%.0f y=%.0f text-anchor=middle>%s; dashed: what it would be</text></svg><div class=muted>", (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 6, style->by);
    for (size_t m = 0; m < METRIC_PARTS; m++)
        if (comparison_shows(scaling->comparison, metric_parts[m]))
            fprintf(out, "<span class=key style=\"background:var(--%s)\"></span>%s", metric_word[metric_parts[m]], metric_title(metric_parts[m]));
    fputs("</div></div>", out);
}

/* A context's effort along the numbers, and its model up to twice the last. */
static void put_spark(FILE *out, const struct scaling *scaling, const struct scaling_row *row)
{
    double first = log2(scaling->point[0].p), last = log2(2 * last_of(scaling)->p), most = scaling->modelled ? row->fit.at : 0;
    for (size_t i = 0; i < scaling->count; i++)
        most = fmax(most, scaling_effort(scaling, row->context, i, METRIC_NAMED));
    if (most <= 0)
        return;
    fprintf(out, "<svg width=%.0f height=%.0f><polyline class=line points=\"", SPARK, SPARK_HIGH);
    double x = 0, y = 0;
    for (size_t i = 0; i < scaling->count; i++) {
        x = 3 + (log2(scaling->point[i].p) - first) / (last - first) * (SPARK - 6);
        y = SPARK_HIGH - 3 - scaling_effort(scaling, row->context, i, METRIC_NAMED) / most * (SPARK_HIGH - 6);
        fprintf(out, "%.1f,%.1f ", x, y);
    }
    fputs("\"/>", out);
    if (scaling->modelled && row->fit.high <= SCALING_UNTOLD * fmax(row->fit.low, 0)) /* no line that the data do not tell */
        fprintf(out, "<line class=model x1=%.1f y1=%.1f x2=%.1f y2=%.1f />", x, y, SPARK - 3, SPARK_HIGH - 3 - fmax(row->fit.at, 0) / most * (SPARK_HIGH - 6));
    fputs("</svg>", out);
}

static void put_row(FILE *out, const struct scaling *scaling, const struct scaling_row *row)
{
    int decimals = comparison_decimals(scaling->comparison);
    char *label = comparison_label(scaling->comparison, row->context, LABEL, true);
    fprintf(out, "<tr><td class=n>%s %%<td class=n>%s<td class=w><span class=key style=\"background:var(--%s)\"></span>%s<td class=n>%s<td class=n>%s<td>", DECIMAL(100 * row->lost, 1),
            row->first_p > 0 ? DECIMAL(row->first_p, 0) : "&ndash;", metric_word[row->metric], metric_title(row->metric),
            DECIMAL(scaling_effort(scaling, row->context, 0, METRIC_NAMED), decimals),
            DECIMAL(scaling_effort(scaling, row->context, scaling->count - 1, METRIC_NAMED), decimals));
    put_spark(out, scaling, row);
    if (scaling->modelled) {
        char *form = scaling_fit_text(&row->fit, "p");
        fputs("<td><code>", out);
        put_text(out, form);
        fprintf(out, "</code><td class=n>%s (%s to %s)", DECIMAL(row->fit.at, decimals), DECIMAL(fmax(row->fit.low, 0), decimals), DECIMAL(row->fit.high, decimals));
        free(form);
    }
    fputs("<td><code>", out);
    put_text(out, label);
    fputs("</code>\n", out);
    free(label);
}

static void put_rows(FILE *out, const struct scaling *scaling, const struct scaling_style *style)
{
    size_t count, shown = 0;
    struct scaling_row *rows = scaling_rows(scaling, &count);
    const struct scaling_point *last = last_of(scaling);
    const char *unit = comparison_unit(scaling->comparison);
    double more = last->effort_s - last->ideal_s;
    fprintf(out, "<div class=card><h2>What keeps it from scaling</h2><p class=muted>With %s %s there are %s %s of thread time more than there would be, %s %% of it. "
                 "By the code that is why, with its own time and the idleness blamed on it:</p>", DECIMAL(last->p, 0), style->by,
            DECIMAL(more, comparison_decimals(scaling->comparison)), unit, DECIMAL(last->effort_s > 0 ? 100 * more / last->effort_s : 0, 1));
    fprintf(out, "<table><tr><th class=n>lost<th class=n>from<th>most of it<th class=n>%s at %s", unit, DECIMAL(scaling->point[0].p, 0));
    fprintf(out, "<th class=n>at %s<th>along %s", DECIMAL(last->p, 0), style->by);
    if (scaling->modelled)
        fprintf(out, "<th>grows as<th class=n>at %s", DECIMAL(2 * last->p, 0));
    fputs("<th>context\n", out);
    for (size_t i = 0; i < count && shown < style->top && rows[i].lost >= LEAST_LOST; i++, shown++)
        put_row(out, scaling, &rows[i]);
    fputs(count && rows[0].lost >= LEAST_LOST ? "</table></div>" : "</table><p>Nothing grows: it scales.</p></div>", out);
    free(rows);
}

void scaling_html(FILE *out, const struct scaling *scaling, const struct scaling_style *style, const char *title)
{
    fputs("<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content=\"width=device-width\">"
          "<meta http-equiv=Content-Security-Policy content=\"default-src 'none'; style-src 'unsafe-inline'\"><title>", out);
    put_text(out, title);
    fprintf(out, "</title><style>%s</style>\n<h1>", style_sheet);
    put_text(out, title);
    fprintf(out, "</h1><p class=muted>How it grows with its %s. %s scaling: with twice the %s there is %s to do.", style->by, scaling->weak ? "Weak" : "Strong", style->by,
            scaling->weak ? "twice as much" : "as much");
    if (scaling->modelled && scaling->design.distinct < SCALING_ENOUGH)
        fputs(" Models of fewer than five different numbers are guesses.", out);
    fputs("</p><div class=plots>\n", out);
    put_plot(out, scaling, style, "Speed-up", speed_up, ideal_speed_up, "");
    put_plot(out, scaling, style, "Efficiency", efficiency, whole, " %");
    put_parts(out, scaling, style);
    fputs("</div>\n", out);
    put_rows(out, scaling, style);
    fputs("</html>\n", out);
}
