#include "command/compare/limits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command/rows/error.h"
#include "command/text/memory.h"

static bool limit_read_metric(struct limit *limit, const char *name, size_t bytes)
{
    if (bytes == 4 && strncmp(name, "wall", 4) == 0)
        return limit->wall = true;
    for (enum metric metric = 0; metric < METRIC_NAMED; metric++)
        if (strlen(metric_word[metric]) == bytes && strncmp(name, metric_word[metric], bytes) == 0) {
            limit->metric = metric;
            return true;
        }
    return false;
}

static bool limit_read_percent(struct limit *limit, const char *text)
{
    char *end;
    limit->percent = strtod(text, &end);
    return *text && !*end && limit->percent >= 0 && limit->percent <= 1e6;
}

static bool limit_read_regex(struct limit *limit, const char *begin, const char *end, char *error, size_t bytes)
{
    char *pattern = memory_check(strndup(begin, (size_t)(end - begin))), why[200] = "";
    int status = regcomp(&limit->regex, pattern, REG_EXTENDED | REG_NOSUB);
    if (status)
        regerror(status, &limit->regex, why, sizeof why);
    free(pattern);
    limit->selects = status == 0;
    if (status)
        snprintf(error, bytes, "%s: %.*s is not a regular expression (%s); expected an extended one, as for grep -E",
                 limit->text, (int)(end - begin), begin, why);
    return status == 0;
}

bool limit_read(struct limit *limit, const char *text, char *error, size_t bytes)
{
    const char *at = strchr(text, '@'), *equals = strrchr(text, '=');
    *limit = (struct limit){.text = text};
    if (!equals || equals == text || (at && at > equals))
        at = NULL;
    size_t name_bytes = at ? (size_t)(at - text) : equals ? (size_t)(equals - text) : strlen(text);
    if (!equals || !limit_read_metric(limit, text, name_bytes) || (limit->wall && at)) {
        size_t used = (size_t)snprintf(error, bytes,
                                       "%s: expected wall=PERCENT, METRIC=PERCENT or METRIC@REGEX=PERCENT, where "
                                       "METRIC is one of",
                                       text);
        for (enum metric metric = 0; metric < METRIC_NAMED && used < bytes; metric++)
            used += (size_t)snprintf(error + used, bytes - used, "%s %s", metric ? "," : "", metric_word[metric]);
        return false;
    }
    if (!limit_read_percent(limit, equals + 1)) {
        snprintf(error, bytes, "%s: %s is not a percentage; expected a number from 0 to 1000000", text,
                 equals[1] ? equals + 1 : "\"\"");
        return false;
    }
    if (at && at + 1 == equals) {
        snprintf(error, bytes, "%s: expected METRIC@REGEX=PERCENT with a REGEX that is not empty", text);
        return false;
    }
    return !at || limit_read_regex(limit, at + 1, equals, error, bytes);
}

void limit_free(struct limit *limit)
{
    if (limit->selects)
        regfree(&limit->regex);
    limit->selects = false;
}

static bool limit_matches(const struct limit *limit, const struct compare_context *context)
{
    return context->kind != ROW_STATEMENT && regexec(&limit->regex, context->canonical, 0, NULL, 0) == 0;
}

/* Marks the contexts to which the limit applies: 2 for an outermost one, 1 for a context below an outermost
 * one, 0 for all others. The caller frees the array. */
static unsigned char *limit_select_contexts(const struct limit *limit, const struct comparison *comparison)
{
    unsigned char *selected = memory_array(comparison->count, 1);
    for (size_t i = 0; i < comparison->count; i++) {
        const struct compare_context *context = &comparison->context[i];
        if (context->parent != ROW_NONE && selected[context->parent])
            selected[i] = 1;
        else if (limit->selects ? i > 0 && limit_matches(limit, context) : i == 0)
            selected[i] = 2;
    }
    return selected;
}

static void limit_note_culprit(struct limit *limit, uint32_t context, double increase)
{
    size_t at = limit->culprit_count;
    if (increase <= 0 || (at == LIMIT_CULPRITS && limit->increase[at - 1] >= increase))
        return;
    if (at == LIMIT_CULPRITS)
        at--;
    else
        limit->culprit_count++;
    for (; at > 0 && limit->increase[at - 1] < increase; at--) {
        limit->increase[at] = limit->increase[at - 1];
        limit->culprit[at] = limit->culprit[at - 1];
    }
    limit->increase[at] = increase;
    limit->culprit[at] = context;
}

/* Finds the contexts whose own code got worse by most. Compares the limit's metric or, for a limit on the
 * wall time, the effort. */
static void limit_find_culprits(struct limit *limit, const struct comparison *comparison, const unsigned char *selected)
{
    for (uint32_t i = 0; i < comparison->count; i++) {
        if (!selected[i] || comparison->context[i].kind == ROW_STATEMENT)
            continue;
        double increase = 0;
        for (size_t m = 0; m < (limit->wall ? METRIC_PARTS : 1); m++) {
            struct compare_change change =
                comparison_change(comparison, i, limit->wall ? metric_parts[m] : limit->metric, false);
            increase += change.after - change.before;
        }
        limit_note_culprit(limit, i, increase);
    }
}

/* Adds up the values of the selected contexts in each run. Returns false if there are no such contexts. */
static bool limit_sum_selected(const struct limit *limit, const struct comparison *comparison,
                               const unsigned char *selected, double *value, double *variance)
{
    bool any = false;
    for (size_t run = 0; run < comparison->run_count; run++) {
        struct error_basis basis = {0};
        value[run] = limit->wall ? comparison->run[run].wall_s : 0;
        for (uint32_t i = 0; i < comparison->count; i++)
            if (selected[i] == 2) {
                any = true;
                if (!limit->wall)
                    value[run] += comparison_value(comparison, run, i, limit->metric, true);
                error_basis_add(&basis, comparison_basis(comparison, run, i, true));
            }
        variance[run] = limit->wall ? 0 : comparison_variance(comparison, run, limit->metric, value[run], basis);
    }
    return any;
}

void limit_judge(struct limit *limit, const struct comparison *comparison, double least_percent)
{
    double value[comparison->run_count], variance[comparison->run_count];
    double factor = 1 + limit->percent / 100;
    unsigned char *selected = limit_select_contexts(limit, comparison);
    bool any = limit_sum_selected(limit, comparison, selected, value, variance);
    limit->change = comparison_change_of(comparison, value, variance);
    double increase = limit->change.after - limit->change.before;
    if (!any)
        limit->verdict = LIMIT_NO_CONTEXT;
    else if (increase <= 0 || limit->change.after <= factor * limit->change.before)
        limit->verdict = LIMIT_KEPT;
    else if (comparison_excess(comparison, value, variance, factor) <= 0)
        limit->verdict = LIMIT_WITHIN_NOISE;
    else if (!limit->wall && increase < comparison_least(comparison, limit->metric, least_percent))
        limit->verdict = LIMIT_TOO_SMALL;
    else
        limit->verdict = LIMIT_EXCEEDED;
    if (limit->verdict == LIMIT_EXCEEDED)
        limit_find_culprits(limit, comparison, selected);
    free(selected);
}

char *limit_subject(const struct limit *limit)
{
    const char *at = strchr(limit->text, '@'), *equals = strrchr(limit->text, '=');
    if (limit->wall)
        return memory_text("wall time");
    if (!limit->selects)
        return memory_text("%s", metric_title(limit->metric));
    return memory_text("%s of %.*s", metric_title(limit->metric), (int)(equals - at - 1), at + 1);
}
