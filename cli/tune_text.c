/* `blame tune`: what it found, as text and CSV. */
#include <math.h>
#include <stdlib.h>

#include "cli/tune.h"
#include "report/text/format.h"
#include "report/text/memory.h"

static void print_assignments(FILE *out, const struct tuning *tuning, const struct search_setting *setting)
{
    char *lines = space_variables(&tuning->space, setting);
    for (char *at = lines, *end; (end = strchr(at, '\n')); at = end + 1)
        fprintf(out, "    export %.*s\n", (int)(end - at), at);
    for (size_t i = 0; i < tuning->space.count; i++) {
        const struct space_dimension *of = &tuning->space.dimension[i];
        if (of->kind == SPACE_PARAMETER && setting->value[i])
            fprintf(out, "    %s=%s\n", of->name, of->value[setting->value[i]]);
    }
    free(lines);
}

static void print_pairs(FILE *out, const struct search_result *result)
{
    fprintf(out, " (%s to %s %%, 95 %%, %zu pairs of runs apart from the search)\n", DECIMAL(100 * result->low, 1), DECIMAL(100 * result->high, 1),
            result->pairs);
}

static bool tried_any(const struct tuning *tuning)
{
    for (size_t i = 0; i < tuning->space.count; i++)
        if (search_tried_of(tuning->search, i).values)
            return true;
    return false;
}

static void print_verdict(FILE *out, const struct tuning *tuning, const struct search_result *result)
{
    switch (result->verdict) {
    case SEARCH_GAIN:
        fputs("best:\n", out);
        print_assignments(out, tuning, &result->best);
        fprintf(out, "gain: %s %% less time", DECIMAL(100 * result->gain, 1));
        print_pairs(out, result);
        break;
    case SEARCH_NOT_SHOWN:
        fputs("It is best as it is, as far as this search can tell. What seemed to be faster is not, beyond chance:\n", out);
        print_assignments(out, tuning, &result->best);
        if (result->pairs > 1) {
            fprintf(out, "gain: %s %%", DECIMAL(100 * result->gain, 1));
            print_pairs(out, result);
            fprintf(out, "Runs scatter here, so that less than %s %% is not told from chance.\n", DECIMAL(50 * (result->high - result->low), 1));
        }
        break;
    case SEARCH_FAILS:
        fputs("It is best as it is, as far as this search can tell. What seemed to be faster went wrong when it was run again:\n", out);
        print_assignments(out, tuning, &result->best);
        break;
    case SEARCH_UNCONFIRMED:
        fputs("The search was ended early. This seems to be faster; nothing shows yet that it is:\n", out);
        print_assignments(out, tuning, &result->best);
        break;
    case SEARCH_FAILED:
        fputs("The program as it is does not always run to its end: nothing can be held against it.\n", out);
        break;
    default:
        if (!tried_any(tuning))
            fputs("Nothing was tried: give more --runs, or --minutes.\n", out);
        else
            fputs("It is best as it is, as far as this search can tell: nothing that was tried was faster.\n", out);
    }
}

static void print_causes(FILE *out, const struct tuning *tuning)
{
    const struct tune_causes *before = &tuning->causes[0], *after = &tuning->causes[1];
    if (!before->profiles || !after->profiles)
        return;
    fputs("threads' seconds, before and with it:", out);
    for (size_t i = 0; i < TUNE_CAUSES; i++) {
        double was = before->seconds[i] / (double)before->profiles, is = after->seconds[i] / (double)after->profiles;
        fprintf(out, "%s %s %s -> %s", i ? "," : "", metric_title(tune_cause[i]), DECIMAL(was, 2), DECIMAL(is, 2));
    }
    putc('\n', out);
}

static void print_dimension(FILE *out, const struct tuning *tuning, size_t dimension, const struct search_result *result)
{
    const struct space_dimension *of = &tuning->space.dimension[dimension];
    struct search_tried tried = search_tried_of(tuning->search, dimension);
    char *why = tuning->why[dimension] ? format_clean(tuning->why[dimension], true) : NULL;
    fprintf(out, "  %-10s ", of->name);
    if (!tried.values) {
        fprintf(out, "%s\n", why && strncmp(why, "not tried", 9) == 0 ? why : "not tried: the runs or the time were used up");
    } else {
        double per_cent = 100 * fabs(tried.change);
        fprintf(out, "%zu of %zu tried; ", tried.values, of->values - 1);
        const char *best = of->value[tried.best], *less = tried.change < 0 ? "less" : "more";
        if (result->best.value[dimension])
            fprintf(out, "%s: %s %% %s time", best, DECIMAL(per_cent, 1), less);
        else if (tried.taken)
            fprintf(out, "%s had %s %% %s time, but not with what was found later", best, DECIMAL(per_cent, 1), less);
        else
            fprintf(out, "not worth it: the best, %s, had %s %% %s time", best, DECIMAL(per_cent, 1), less);
        if (why)
            fprintf(out, "; tried first: %s", why);
        putc('\n', out);
    }
    free(why);
}

static void print_trials(FILE *out, const struct tuning *tuning)
{
    size_t trials = 0, failed = 0;
    for (size_t i = 0; i < tuning->runs; i++) {
        trials += tuning->run[i].trial > 0;
        failed += tuning->run[i].result.end != TRY_GOOD && tuning->run[i].result.end != TRY_STOPPED;
    }
    char *path = format_clean(tuning->request->database, true);
    fprintf(out, "%zu runs, %s s", tuning->runs, DECIMAL(tune_now_s() - tuning->begin_s, 0));
    if (trials)
        fprintf(out, "; %zu are trials of %s (tune = '%s')", trials, path, tuning->id);
    if (tuning->unmeasured)
        fprintf(out, "; %zu left no profile: they begin no region", tuning->unmeasured);
    if (failed)
        fprintf(out, "; %zu went wrong, and their settings were left", failed);
    putc('\n', out);
    if (tuning->database_says)
        fprintf(out, "no trials were kept: %s\n", tuning->database_says);
    free(path);
}

void tune_text(FILE *out, const struct tuning *tuning)
{
    struct search_result result;
    search_judge(tuning->search, &result);
    if (result.pairs)
        fprintf(out, "as it is: %s s\n", DECIMAL(result.default_s, 3));
    print_verdict(out, tuning, &result);
    if (result.verdict == SEARCH_GAIN)
        print_causes(out, tuning);
    if (tuning->guessed) {
        fputs("tried first, by what searches of before say:", out);
        for (size_t i = 0; i < tuning->space.count; i++)
            if (tuning->guess[i])
                fprintf(out, " %s=%s", tuning->space.dimension[i].name, tuning->space.dimension[i].value[tuning->guess[i]]);
        putc('\n', out);
    }
    fputs("settings:\n", out);
    for (size_t i = 0; i < tuning->space.count; i++)
        print_dimension(out, tuning, i, &result);
    print_trials(out, tuning);
}

static const char *const end_words[] = {[TRY_GOOD] = "good", [TRY_STATUS] = "status", [TRY_SIGNAL] = "signal", [TRY_LIMIT] = "limit",
                                        [TRY_WRONG] = "wrong", [TRY_STOPPED] = "stopped", [TRY_NO_START] = "no start"};

void tune_csv(FILE *out, const struct tuning *tuning)
{
    fputs("run,trial,part,end,seconds", out);
    for (size_t i = 0; i < tuning->space.count; i++) {
        putc(',', out);
        format_csv_text(out, tuning->space.dimension[i].name);
    }
    putc('\n', out);
    for (size_t at = 0; at < tuning->runs; at++) {
        const struct tune_run *run = &tuning->run[at];
        fprintf(out, "%zu,", at + 1);
        if (run->trial)
            fprintf(out, "%lld", run->trial);
        fprintf(out, ",%s,%s,%s", run->confirms ? "pairs" : "search", end_words[run->result.end], DECIMAL(run->result.seconds, 6));
        for (size_t i = 0; i < tuning->space.count; i++) {
            putc(',', out);
            format_csv_text(out, run->setting.value[i] ? tuning->space.dimension[i].value[run->setting.value[i]] : "default");
        }
        putc('\n', out);
    }
}

void tune_plan_text(FILE *out, const struct tuning *tuning)
{
    double settings = 1;
    for (size_t i = 0; i < tuning->space.count; i++) {
        const struct space_dimension *of = &tuning->space.dimension[i];
        settings *= (double)of->values;
        fprintf(out, "%-10s", of->name);
        for (size_t v = 0; v < of->values; v++)
            fprintf(out, " %s", of->value[v]);
        putc('\n', out);
    }
    fprintf(out, "%s settings; at most %d runs, of which %d are pairs of the default and the best. What is tried first, the findings of the first run say.\n",
            DECIMAL(settings, 0), tuning->request->runs, 2 * tuning->request->pairs);
}
