/* `blame tune`: the runs, their trials, and what the first one's findings say about where to begin. */
#include <errno.h>
#include <glob.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/open_profile.h"
#include "cli/tune.h"
#include "report/findings/findings.h"
#include "report/text/format.h"
#include "report/text/memory.h"
#include "report/text/unfinished.h"

#define LEAST_GAIN  0.01
#define LITTLE_LOST 0.01 /* of the threads' time: settings of loops and of waiting cannot gain more */
#define WORDS       64

const enum metric tune_cause[TUNE_CAUSES] = {METRIC_WORK, METRIC_IDLENESS, METRIC_OVERHEAD, METRIC_LOCK_WAIT, METRIC_NO_CORE};

static volatile int stop_asked;

static void on_stop(int signal)
{
    (void)signal;
    stop_asked = 1;
}

/* Ctrl-\ and a terminal that is closed as well, unless they are ignored (nohup): programs in groups of their own would run on alone. */
static void await_stop(void)
{
    static const int signals[] = {SIGHUP, SIGQUIT};
    struct sigaction action = {.sa_handler = on_stop}, before;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(signals[i], &action, NULL);
}

double tune_now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static char *inside(const struct tuning *tuning, const char *name)
{
    return memory_text("%s/%s", tuning->folder, name);
}

struct files {
    char *profile, *output, *errors, *variables;
};

static struct try_request request_of(const struct tuning *tuning, const struct files *files)
{
    return (struct try_request){.blame = tuning->blame, .variables = files->variables, .profile = files->profile, .output = files->output,
                                .errors = files->errors, .check = tuning->request->check, .limit_s = tuning->request->limit_s, .stop = &stop_asked};
}

/* The value of a dimension as metadata has it. */
static const char *value_of(const struct tuning *tuning, const struct search_setting *setting, size_t dimension)
{
    return setting->value[dimension] ? tuning->space.dimension[dimension].value[setting->value[dimension]] : "default";
}

/* The number that `blame db add --format csv` printed; 0: none. */
static long long read_trial(const char *path)
{
    char line[256];
    long long trial = 0;
    FILE *file = fopen(path, "r");
    if (file && fgets(line, sizeof line, file) && fgets(line, sizeof line, file))
        trial = strtoll(line, NULL, 10);
    if (file)
        fclose(file);
    return trial;
}

static char *first_line(const char *path)
{
    char line[400] = "";
    FILE *file = fopen(path, "r");
    if (file && !fgets(line, sizeof line, file))
        line[0] = '\0';
    if (file)
        fclose(file);
    line[strcspn(line, "\n")] = '\0';
    return format_clean(line, true);
}

/* The run as a trial: by the command that everybody adds runs with. */
static void add_trial(struct tuning *tuning, const struct files *files, struct tune_run *run)
{
    const struct tune_request *request = tuning->request;
    const char *words[2 * WORDS + 2 * SEARCH_DIMENSIONS] = {tuning->blame, "db", "add", files->profile, "--db", request->database,
                                                        "--experiment", "tune", "--format", "csv", "--meta"};
    char *made[WORDS + SEARCH_DIMENSIONS];
    size_t count = 11, made_count = 0;
    words[count++] = made[made_count++] = memory_text("tune=%s", tuning->id);
    words[count++] = "--meta";
    words[count++] = made[made_count++] = memory_text("tune.seconds=%s", DECIMAL(run->result.seconds, 6));
    words[count++] = "--meta";
    words[count++] = "tune.profiled=1";
    for (size_t i = 0; i < tuning->space.count; i++) {
        words[count++] = "--meta";
        words[count++] = made[made_count++] = memory_text("tune.%s=%s", tuning->space.dimension[i].name, value_of(tuning, &run->setting, i));
    }
    for (size_t i = 0; i < request->input.count && made_count < WORDS; i++) {
        words[count++] = "--meta";
        words[count++] = made[made_count++] = memory_text("input.%s", request->input.item[i]);
    }
    if (request->application) {
        words[count++] = "--application";
        words[count++] = request->application;
    }
    struct try_request adding = request_of(tuning, files);
    int never = 0;
    adding.variables = "";
    adding.limit_s = 0;
    adding.stop = &never;
    struct try_result result = try_words(&adding, (char *const *)words);
    run->trial = result.end == TRY_GOOD ? read_trial(files->output) : 0;
    if (!run->trial) {
        tuning->untold++;
        if (!tuning->database_says)
            tuning->database_says = first_line(files->errors);
    }
    for (size_t i = 0; i < made_count; i++)
        free(made[i]);
}

static void count_causes(struct tune_causes *causes, const struct rows *rows)
{
    for (size_t i = 0; i < TUNE_CAUSES; i++)
        causes->seconds[i] += metric_value(rows, rows_whole(rows), tune_cause[i]);
    causes->profiles++;
}

/* The words of a program with the setting's parameters in their places. */
static char **program_of(const struct tuning *tuning, const struct search_setting *setting)
{
    char why[200];
    size_t count = 0;
    while (tuning->request->program[count])
        count++;
    char **program = memory_array(count + 1, sizeof *program);
    for (size_t i = 0; i < count; i++)
        program[i] = space_expand(&tuning->space, setting, tuning->request->program[i], why, sizeof why);
    return program;
}

static void free_words(char **words)
{
    for (size_t i = 0; words[i]; i++)
        free(words[i]);
    free(words);
}

/* Whether a run of the same variant came before. */
static bool is_built(const struct tuning *tuning, const struct search_setting *setting)
{
    for (size_t run = 0; run < tuning->runs; run++) {
        bool same = true;
        for (size_t i = 0; i < tuning->space.count; i++)
            same &= tuning->run[run].setting.value[i] == setting->value[i] || !space_mentions(&tuning->space, i, tuning->space.build);
        if (same)
            return true;
    }
    return false;
}

static bool build(const struct tuning *tuning, const struct files *files, const struct search_setting *setting, struct try_result *result)
{
    char why[200];
    if (!tuning->space.build || is_built(tuning, setting))
        return true;
    char *command = space_expand(&tuning->space, setting, tuning->space.build, why, sizeof why);
    struct try_request request = request_of(tuning, files);
    request.variables = "";
    request.limit_s = 0;
    *result = try_shell(&request, command);
    free(command);
    return result->end == TRY_GOOD;
}

static struct try_result run_once(const struct tuning *tuning, const struct files *files, const struct search_setting *setting)
{
    struct try_result result;
    if (!build(tuning, files, setting, &result))
        return result;
    char **program = program_of(tuning, setting);
    struct try_request request = request_of(tuning, files);
    request.program = program;
    result = try_run(&request);
    free_words(program);
    return result;
}

static bool has_profile(const char *path)
{
    char *pattern = memory_text("%s/*.blame", path);
    glob_t found = {0};
    bool there = glob(pattern, 0, NULL, &found) == 0;
    globfree(&found);
    free(pattern);
    return there;
}

/* Which settings a finding is about, the likeliest first; docs/tuning.md has the table. */
static const struct {
    const char *rule;
    enum space_kind kind[3];
    size_t kinds;
} begins[] = {
    {"imbalance", {SPACE_SCHEDULE, SPACE_THREADS}, 2}, {"fine", {SPACE_THREADS, SPACE_SCHEDULE, SPACE_WAIT}, 3},
    {"serial", {SPACE_THREADS, SPACE_WAIT}, 2},        {"lock-bound", {SPACE_WAIT, SPACE_THREADS}, 2},
    {"oversubscribed", {SPACE_THREADS, SPACE_WAIT}, 2}, {"too-many-threads", {SPACE_THREADS, SPACE_WAIT}, 2},
    {"cores-taken", {SPACE_THREADS, SPACE_WAIT}, 2},   {"start-up", {SPACE_THREADS}, 1},
};

static void put_first(struct tuning *tuning, enum space_kind kind, const struct finding *finding)
{
    for (size_t i = 0; i < tuning->space.count; i++) {
        if (tuning->space.dimension[i].kind != kind || tuning->why[i])
            continue;
        tuning->why[i] = memory_text("%s (%s %%)", finding->title, DECIMAL(finding->share, 1));
        tuning->order[tuning->order_count++] = i;
    }
}

static bool is_of_waiting(const struct tuning *tuning, size_t dimension)
{
    enum space_kind kind = tuning->space.dimension[dimension].kind;
    return kind == SPACE_SCHEDULE || kind == SPACE_WAIT;
}

/* What no finding is about: the fewest values first. */
static void put_others(struct tuning *tuning, double lost)
{
    bool taken[SEARCH_DIMENSIONS] = {false};
    for (size_t i = 0; i < tuning->order_count; i++)
        taken[tuning->order[i]] = true;
    for (size_t i = 0; i < tuning->space.count; i++)
        if (!taken[i] && !tuning->space.given && lost < LITTLE_LOST && is_of_waiting(tuning, i)) {
            tuning->why[i] = memory_text("not tried: threads lose %s %% of their time to waiting and overhead", DECIMAL(100 * lost, 1));
            taken[i] = true;
        }
    for (;;) {
        size_t least = SEARCH_DIMENSIONS;
        for (size_t i = 0; i < tuning->space.count; i++)
            if (!taken[i] && (least == SEARCH_DIMENSIONS || tuning->space.dimension[i].values < tuning->space.dimension[least].values))
                least = i;
        if (least == SEARCH_DIMENSIONS)
            return;
        taken[least] = true;
        tuning->order[tuning->order_count++] = least;
    }
}

/* From the profile of the first run. */
static double follow_findings(struct tuning *tuning, const struct opened_profile *opened)
{
    struct lock_table *locks = locks_gather(opened->profile, opened->rows, opened->symbols);
    struct wait_table *waits = waits_gather(opened->profile, opened->rows, locks, opened->symbols);
    struct findings *findings = findings_gather(opened->profile, opened->rows, locks, waits);
    for (size_t i = 0; i < findings->count; i++)
        for (size_t b = 0; b < sizeof begins / sizeof *begins; b++)
            for (size_t k = 0; strcmp(begins[b].rule, findings->finding[i].rule) == 0 && k < begins[b].kinds; k++)
                put_first(tuning, begins[b].kind[k], &findings->finding[i]);
    findings_free(findings);
    waits_free(waits);
    locks_free(locks);
    struct tune_causes causes = {{0}, 0};
    count_causes(&causes, opened->rows);
#ifdef BLAME_TRIALS
    tune_guess(tuning, opened->profile, &causes);
#endif
    double lost = causes.seconds[1] + causes.seconds[2] + causes.seconds[3] + causes.seconds[4];
    return lost / fmax(causes.seconds[0] + lost, 1e-9);
}

/* What is known of a run that ended well. */
static void look_at(struct tuning *tuning, const struct files *files, struct tune_run *run, size_t number)
{
    struct opened_profile opened;
    if (!has_profile(files->profile)) {
        tuning->unmeasured++;
        if (number == 0)
            put_others(tuning, 1);
        return;
    }
    bool first = number == 0;
    if ((first || run->confirms) && open_rows("tune", files->profile, &opened)) {
        bool is_best = false;
        for (size_t i = 0; i < tuning->space.count; i++)
            is_best |= run->setting.value[i] != 0;
        if (first)
            put_others(tuning, follow_findings(tuning, &opened));
        else
            count_causes(&tuning->causes[is_best], opened.rows);
        close_profile(&opened);
    } else if (first) {
        put_others(tuning, 1);
    }
    if (!tuning->untold)
        add_trial(tuning, files, run);
}

static void tell(const struct tuning *tuning, const struct tune_run *run, const struct try_request *request)
{
    if (!isatty(STDERR_FILENO))
        return;
    char *ended = try_result_words(request, &run->result);
    fprintf(stderr, "run %zu of at most %d: ", tuning->runs, tuning->request->runs);
    for (size_t i = 0; i < tuning->space.count; i++)
        if (run->setting.value[i])
            fprintf(stderr, "%s=%s ", tuning->space.dimension[i].name, value_of(tuning, &run->setting, i));
    fprintf(stderr, "%s s%s%s\n", DECIMAL(run->result.seconds, 3), run->result.end == TRY_GOOD ? "" : ": ", run->result.end == TRY_GOOD ? "" : ended);
    free(ended);
}

/* One run with its trial. NAN: it went wrong. */
static double run_setting(struct tuning *tuning, const struct search_setting *setting, bool confirms)
{
    struct files files = {inside(tuning, "profile"), inside(tuning, "output"), inside(tuning, "errors"), space_variables(&tuning->space, setting)};
    struct tune_run run = {.setting = *setting, .confirms = confirms, .result = run_once(tuning, &files, setting)};
    struct try_request request = request_of(tuning, &files);
    size_t number = tuning->runs;
    if (run.result.end == TRY_GOOD) {
        look_at(tuning, &files, &run, number);
    } else if (number == 0) {
        char *said = run.result.end == TRY_STATUS ? first_line(files.errors) : memory_text("%s", ""), *how = try_result_words(&request, &run.result);
        tuning->failure = memory_text("%s%s%s", how, *said ? ": " : "", said);
        free(said);
        free(how);
    }
    memory_grow(&tuning->run, &tuning->room, tuning->runs, sizeof *tuning->run);
    tuning->run[tuning->runs++] = run;
    tell(tuning, &run, &request);
    unfinished_remove(files.profile);
    free(files.profile);
    free(files.output);
    free(files.errors);
    free(files.variables);
    return run.result.end == TRY_GOOD ? run.result.seconds : NAN;
}

/* Whether the pairs would not be done by the end of the time. */
static bool is_late(const struct tuning *tuning, double default_s)
{
    double left = 60 * tuning->request->minutes - (tune_now_s() - tuning->begin_s);
    return tuning->request->minutes > 0 && left < 2.2 * tuning->request->pairs * default_s;
}

static void search_all(struct tuning *tuning, double default_s)
{
    struct search_plan plan = {.dimension = tuning->dimension, .order = tuning->order, .count = tuning->space.count, .order_count = tuning->order_count,
                               .guess = tuning->guessed ? tuning->guess : NULL, .runs = (size_t)tuning->request->runs - 1, .pairs = (size_t)tuning->request->pairs, .least = LEAST_GAIN,
                               .seed = (uint64_t)tuning->request->seed};
    struct search_setting setting;
    tuning->search = search_begin(&plan);
    while (!stop_asked && search_next(tuning->search, &setting)) {
        if (is_late(tuning, default_s) && !search_confirms(tuning->search)) {
            search_hurry(tuning->search);
            continue;
        }
        double seconds = run_setting(tuning, &setting, search_confirms(tuning->search));
        if (!stop_asked)
            search_tell(tuning->search, seconds);
    }
}

static bool make_folder(struct tuning *tuning)
{
    const char *given = getenv("TMPDIR"), *place = given && *given ? given : "/tmp";
    snprintf(tuning->folder, sizeof tuning->folder, "%s/blame-tune-XXXXXX", place);
    if (unfinished_temporary(tuning->folder))
        return true;
    tuning->failure = memory_text("no temporary folder in %s (TMPDIR): %s", place, strerror(errno));
    return false;
}

bool tune_all(struct tuning *tuning)
{
    const struct search_setting as_it_is = {{0}};
    await_stop();
    if (!make_folder(tuning))
        return false;
    for (size_t i = 0; i < tuning->space.count; i++)
        tuning->dimension[i] = (struct search_dimension){tuning->space.dimension[i].values, tuning->space.dimension[i].ordered};
    double seconds = run_setting(tuning, &as_it_is, false);
    if (seconds > 0)
        search_all(tuning, seconds);
    unfinished_remove(tuning->folder);
    return !tuning->failure;
}

void tune_free(struct tuning *tuning)
{
    for (size_t i = 0; i < SEARCH_DIMENSIONS; i++)
        free(tuning->why[i]);
    if (tuning->search)
        search_end(tuning->search);
    space_free(&tuning->space);
    free(tuning->run);
    free(tuning->failure);
    free(tuning->database_says);
}
