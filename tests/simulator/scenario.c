/* The language: words between blanks; `#` begins a remark. tests/simulator/scenarios/README.md describes it. */
#include "tests/simulator/scenario.h"

#include <ctype.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FUNCTIONS 256u
#define MAX_LOCKS     64u

struct parser {
    const char *at;
    uint32_t line_number;
    char word[64];
    struct scenario *scenario;
    char *error;
    size_t error_bytes;
    bool failed;
};

static const struct {
    const char *name;
    bool number, named, function, body, durations;
} forms[OP_KINDS] = {
    [OP_WORK] = {"work", .durations = true},
    [OP_RUNTIME] = {"runtime", .durations = true},
    [OP_BLOCKED] = {"blocked", .durations = true},
    [OP_SPINS] = {"spins", .durations = true},
    [OP_MPI_SLEEP] = {"mpi-sleep", .durations = true},
    [OP_MPI_SPIN] = {"mpi-spin", .durations = true},
    [OP_CALL] = {"call", .named = true, .function = true, .body = true},
    [OP_REPEAT] = {"repeat", .number = true, .body = true},
    [OP_PARALLEL] = {"parallel", .number = true, .function = true, .body = true},
    [OP_BARRIER] = {"barrier"},
    [OP_STATIC] = {"static", .number = true, .body = true},
    [OP_DYNAMIC] = {"dynamic", .number = true, .body = true},
    [OP_SINGLE] = {"single", .body = true},
    [OP_MASKED] = {"masked", .body = true},
    [OP_LOCK] = {"lock", .named = true, .body = true},
    [OP_CRITICAL] = {"critical", .named = true, .body = true},
    [OP_NEST] = {"nest", .named = true, .body = true},
    [OP_ORDERED] = {"ordered", .body = true},
    [OP_MUTEX] = {"mutex", .named = true, .body = true},
    [OP_THREAD] = {"thread", .named = true, .function = true, .body = true},
    [OP_JOIN] = {"join"},
    [OP_AWAIT] = {"await", .named = true},
    [OP_SIGNAL] = {"signal", .number = true, .named = true},
    [OP_TASK] = {"task", .function = true, .body = true},
    [OP_TASKWAIT] = {"taskwait"},
    [OP_TASKWAIT_DEPEND] = {"taskwait-depend"},
    [OP_TASKGROUP] = {"taskgroup", .body = true},
    [OP_PHASE] = {"phase", .named = true, .body = true},
    [OP_ITERATION] = {"iteration", .named = true, .body = true},
};

static void fail(struct parser *parser, const char *format, ...)
{
    va_list arguments;
    if (parser->failed)
        return;
    parser->failed = true;
    int used = snprintf(parser->error, parser->error_bytes, "%s:%u: ", parser->scenario->name, parser->line_number);
    va_start(arguments, format);
    vsnprintf(parser->error + used, parser->error_bytes - (size_t)used, format, arguments);
    va_end(arguments);
}

/* The next word, "" at the end. */
static const char *next_word(struct parser *parser)
{
    size_t length = 0;
    for (; *parser->at && (isspace((unsigned char)*parser->at) || *parser->at == '#'); parser->at++) {
        if (*parser->at == '#')
            parser->at += strcspn(parser->at, "\n");
        if (!*parser->at)
            break;
        parser->line_number += *parser->at == '\n';
    }
    while (*parser->at && !isspace((unsigned char)*parser->at) && length + 1 < sizeof(parser->word))
        parser->word[length++] = *parser->at++;
    parser->word[length] = '\0';
    return parser->word;
}

static bool peek_is(const struct parser *parser, int (*test)(int))
{
    const char *at = parser->at + strspn(parser->at, " \t\n");
    return test((unsigned char)*at);
}

static const char *time_of(const char *text, uint64_t *ns)
{
    static const struct {
        const char *name;
        double ns;
    } units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    char *end;
    double value = strtod(text, &end);
    for (size_t i = 0; end != text && value >= 0 && i < sizeof(units) / sizeof(*units); i++)
        if (strncmp(end, units[i].name, strlen(units[i].name)) == 0) {
            *ns = (uint64_t)(value * units[i].ns + 0.5);
            return end + strlen(units[i].name);
        }
    return NULL;
}

static struct duration duration_of(struct parser *parser, const char *word)
{
    struct duration duration = {0, 0};
    const char *end = time_of(word, &duration.mean_ns);
    if (end && *end == '~')
        end = time_of(end + 1, &duration.spread_ns);
    if (!end || *end || duration.spread_ns > duration.mean_ns)
        fail(parser, "`%s` is no time such as 10ms or 10ms~2ms", word);
    return duration;
}

static uint32_t number_of(struct parser *parser, const char *word)
{
    char *end;
    unsigned long value = strtoul(word, &end, 10);
    if (!isdigit((unsigned char)*word) || *end || value < 1 || value > 100000000)
        fail(parser, "`%s` is no number of at least 1", word);
    return (uint32_t)value;
}

static uint32_t name_in(char names[][NAME_BYTES], uint32_t *count, uint32_t most, struct parser *parser,
                        const char *name)
{
    uint32_t number = 0;
    while (number < *count && strcmp(names[number], name) != 0)
        number++;
    if (number == most || strlen(name) >= NAME_BYTES) {
        fail(parser, "`%s`: too many names, or too long a one", name);
        return 0;
    }
    if (number == *count)
        strcpy(names[(*count)++], name);
    return number;
}

static uint32_t new_function(struct parser *parser, const struct op *op)
{
    struct scenario *scenario = parser->scenario;
    char name[NAME_BYTES + 16];
    snprintf(name, sizeof(name), "%s%u", forms[op->kind].name, scenario->functions);
    return name_in(scenario->function_name, &scenario->functions, MAX_FUNCTIONS, parser,
                   op->kind == OP_CALL || op->kind == OP_THREAD ? op->name : name);
}

static struct op *parse_body(struct parser *parser);

static void parse_rest(struct parser *parser, struct op *op)
{
    struct scenario *scenario = parser->scenario;
    if (forms[op->kind].number)
        op->number = number_of(parser, next_word(parser));
    if (forms[op->kind].named)
        snprintf(op->name, sizeof(op->name), "%s", next_word(parser));
    if (op->kind == OP_LOCK || op->kind == OP_CRITICAL || op->kind == OP_NEST || op->kind == OP_MUTEX ||
        op->kind == OP_AWAIT || op->kind == OP_SIGNAL)
        op->lock = name_in(scenario->lock_name, &scenario->locks, MAX_LOCKS, parser, op->name);
    if (forms[op->kind].function)
        op->function = new_function(parser, op);
    while (forms[op->kind].durations && peek_is(parser, isdigit) && op->duration_count < MAX_DURATIONS)
        op->durations[op->duration_count++] = duration_of(parser, next_word(parser));
    if (forms[op->kind].durations && !op->duration_count)
        fail(parser, "`%s` takes a time", forms[op->kind].name);
    if (!forms[op->kind].body)
        return;
    next_word(parser);
    if (strcmp(parser->word, "nowait") == 0) {
        op->nowait = true;
        next_word(parser);
    }
    if (strcmp(parser->word, "{") != 0)
        fail(parser, "`%s` where { is expected", parser->word);
    else
        op->body = parse_body(parser);
}

static struct op *parse_body(struct parser *parser)
{
    struct op *first = NULL, **place = &first;
    while (!parser->failed && strcmp(next_word(parser), "}") != 0) {
        int kind = 0;
        while (kind < OP_KINDS && strcmp(parser->word, forms[kind].name) != 0)
            kind++;
        if (kind == OP_KINDS) {
            fail(parser, "`%s` is nothing that a program does", parser->word);
            break;
        }
        struct op *op = calloc(1, sizeof(*op));
        op->kind = (enum op_kind)kind;
        op->id = parser->scenario->ops++;
        op->line = op->id % 250 + 1;
        *place = op;
        place = &op->next;
        parse_rest(parser, op);
    }
    return first;
}

enum setting_kind { NUMBER, FLAG, TIME, DURATION };

static const struct setting {
    const char *name;
    enum setting_kind kind;
    size_t offset;
} settings[] = {
    {"cores", NUMBER, offsetof(struct scenario, cores)},
    {"runs", NUMBER, offsetof(struct scenario, runs)},
    {"ranks", NUMBER, offsetof(struct scenario, ranks)},
    {"foreigners", NUMBER, offsetof(struct scenario, foreigners)},
    {"chunks", NUMBER, offsetof(struct scenario, chunks)},
    {"bias", NUMBER, offsetof(struct scenario, bias)},
    {"libgomp", FLAG, offsetof(struct scenario, libgomp)},
    {"any-order", FLAG, offsetof(struct scenario, any_order)},
    {"requeues", FLAG, offsetof(struct scenario, requeues)},
    {"polls", FLAG, offsetof(struct scenario, polls)},
    {"nanosleeps", FLAG, offsetof(struct scenario, nanosleeps)},
    {"reads-time", FLAG, offsetof(struct scenario, reads_time)},
    {"late-wakes", FLAG, offsetof(struct scenario, late_wakes)},
    {"one-idleness", FLAG, offsetof(struct scenario, one_idleness)},
    {"stated", NUMBER, offsetof(struct scenario, stated)},
    {"up-to-1000", FLAG, offsetof(struct scenario, up_to_1000)},
    {"without-team", FLAG, offsetof(struct scenario, without_team)},
    {"laws-only", FLAG, offsetof(struct scenario, laws_only)},
    {"slice", TIME, offsetof(struct scenario, slice_ns)},
    {"learns", TIME, offsetof(struct scenario, learns_ns)},
    {"on-its-way", DURATION, offsetof(struct scenario, on_way)},
    {"latency", DURATION, offsetof(struct scenario, latency)},
    {"handler", DURATION, offsetof(struct scenario, handler)},
    {"wake", DURATION, offsetof(struct scenario, wake)},
    {"take", DURATION, offsetof(struct scenario, take)},
    {"give", DURATION, offsetof(struct scenario, give)},
    {"spin", DURATION, offsetof(struct scenario, spin)},
    {"fork", DURATION, offsetof(struct scenario, fork)},
    {"dispatch", DURATION, offsetof(struct scenario, dispatch)},
    {"foreign", DURATION, offsetof(struct scenario, foreign_busy)},
    {"pause", DURATION, offsetof(struct scenario, foreign_pause)},
    {"rank-names", FLAG, offsetof(struct scenario, rank_names)},
    {"rank-busy", DURATION, offsetof(struct scenario, rank_busy)},
    {"rank-wait", DURATION, offsetof(struct scenario, rank_wait)},
    {"stall", DURATION, offsetof(struct scenario, stall)},
    {"stall-pause", DURATION, offsetof(struct scenario, stall_pause)},
    {"stop", DURATION, offsetof(struct scenario, stop)},
    {"stop-pause", DURATION, offsetof(struct scenario, stop_pause)},
};
#define SETTINGS (sizeof(settings) / sizeof(*settings))

static void parse_setting(struct parser *parser)
{
    const struct setting *setting = settings;
    while (setting < settings + SETTINGS && strcmp(parser->word, setting->name) != 0)
        setting++;
    if (setting == settings + SETTINGS) {
        fail(parser, "`%s` is nothing that a machine has", parser->word);
        return;
    }
    void *value = (char *)parser->scenario + setting->offset;
    if (setting->kind == NUMBER)
        *(uint32_t *)value = number_of(parser, next_word(parser));
    else if (setting->kind == FLAG)
        *(bool *)value = true;
    else if (setting->kind == TIME)
        *(uint64_t *)value = duration_of(parser, next_word(parser)).mean_ns;
    else
        *(struct duration *)value = duration_of(parser, next_word(parser));
}

struct scenario *scenario_parse(const char *name, const char *text, char *error, size_t error_bytes)
{
    struct scenario *scenario = calloc(1, sizeof(*scenario));
    struct parser parser = {text, 1, "", scenario, error, error_bytes, false};
    snprintf(scenario->name, sizeof(scenario->name), "%s", name);
    scenario->cores = MANY_CORES;
    scenario->runs = 100;
    scenario->foreigners = 1;
    scenario->dispatch.mean_ns = 500;
    scenario->slice_ns = 4000000;
    strcpy(scenario->function_name[scenario->functions++], "main");
    while (!parser.failed && strcmp(next_word(&parser), "main") != 0) {
        if (!parser.word[0])
            fail(&parser, "there is no main { ... }");
        else
            parse_setting(&parser);
    }
    if (strcmp(next_word(&parser), "{") != 0)
        fail(&parser, "`%s` where { is expected", parser.word);
    scenario->main = parse_body(&parser);
    return parser.failed ? NULL : scenario;
}

static bool has(const struct op *op, enum op_kind kind)
{
    return op && (op->kind == kind || has(op->body, kind) || has(op->next, kind));
}

bool scenario_has(const struct scenario *scenario, enum op_kind kind)
{
    return has(scenario->main, kind);
}

bool scenario_is_a_race(const struct scenario *scenario)
{
    static const enum op_kind races[] = {OP_DYNAMIC, OP_SINGLE, OP_LOCK, OP_CRITICAL, OP_NEST,
                                         OP_ORDERED, OP_MUTEX,  OP_TASK, OP_AWAIT};
    for (size_t i = 0; i < sizeof(races) / sizeof(*races); i++)
        if (scenario_has(scenario, races[i]))
            return true;
    return scenario->cores < MANY_CORES;
}

struct scenario *scenario_read(const char *path, char *error, size_t error_bytes)
{
    static char text[65536];
    FILE *file = fopen(path, "r");
    size_t bytes = file ? fread(text, 1, sizeof(text) - 1, file) : 0;
    if (!file) {
        snprintf(error, error_bytes, "%s: cannot be read", path);
        return NULL;
    }
    fclose(file);
    text[bytes] = '\0';
    const char *name = strrchr(path, '/');
    char stem[64];
    snprintf(stem, sizeof(stem), "%s", name ? name + 1 : path);
    stem[strcspn(stem, ".")] = '\0';
    return scenario_parse(stem, text, error, error_bytes);
}

static void print_duration(FILE *file, const char *name, const struct duration *duration)
{
    if (!duration->mean_ns && *name)
        return;
    fprintf(file, "%s%s%.10gus", name, *name ? " " : "", (double)duration->mean_ns / 1000);
    if (duration->spread_ns)
        fprintf(file, "~%.10gus", (double)duration->spread_ns / 1000);
    fputs(*name ? "\n" : "", file);
}

static void print_ops(FILE *file, const struct op *op, int depth)
{
    for (; op; op = op->next) {
        fprintf(file, "%*s%s", 4 * depth, "", forms[op->kind].name);
        if (forms[op->kind].number)
            fprintf(file, " %u", op->number);
        if (forms[op->kind].named)
            fprintf(file, " %s", op->name);
        for (uint32_t i = 0; i < op->duration_count; i++) {
            fputc(' ', file);
            print_duration(file, "", &op->durations[i]);
        }
        if (!forms[op->kind].body) {
            fputc('\n', file);
            continue;
        }
        fputs(op->nowait ? " nowait {\n" : " {\n", file);
        print_ops(file, op->body, depth + 1);
        fprintf(file, "%*s}\n", 4 * depth, "");
    }
}

void scenario_print(FILE *file, const struct scenario *scenario)
{
    fprintf(file, "cores %u\nslice %gus\n", scenario->cores, (double)scenario->slice_ns / 1000);
    for (size_t i = 0; i < SETTINGS; i++)
        if (settings[i].kind == DURATION)
            print_duration(file, settings[i].name,
                           (const struct duration *)((const char *)scenario + settings[i].offset));
    fputs("main {\n", file);
    print_ops(file, scenario->main, 1);
    fputs("}\n", file);
}
