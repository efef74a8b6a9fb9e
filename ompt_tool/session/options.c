#include "ompt_tool/session/options.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"

#define MAX_WORDS 3

struct option {
    const char *name;
    size_t offset;
    int fallback;
    int low, high;                /* accepted numbers, when there are no words */
    const char *words[MAX_WORDS]; /* accepted words; the value is the word's index */
    const char *accepted;         /* for the message */
};

#define OFFSET(member) offsetof(struct options, member)

static const struct option table[] = {
    {"BLAME_RATE", OFFSET(rate), 200, 1, 10000, {NULL}, "a whole number from 1 to 10000"},
    {"BLAME_CLOCK", OFFSET(clock), CLOCK_WALL, 0, 0, {"wall", "cpu", NULL}, "wall or cpu"},
    {"BLAME_ENVIRONMENT",
     OFFSET(environment),
     ENVIRONMENT_DEDICATED,
     0,
     0,
     {"dedicated", "shared", NULL},
     "dedicated or shared"},
    {"BLAME_CONTEXT",
     OFFSET(context),
     CONTEXT_DEFERRED,
     0,
     0,
     {"deferred", "eager", NULL},
     "deferred or eager"},
    {"BLAME_TASKS", OFFSET(tasks), TASKS_REGION, 0, 0, {"region", "creation", NULL}, "region or creation"},
    {"BLAME_LOCKS",
     OFFSET(locks),
     LOCKS_IN_SECTION,
     0,
     0,
     {"section", "release", NULL},
     "section or release"},
    {"BLAME_DEPTH", OFFSET(depth), 512, 1, 4096, {NULL}, "a whole number from 1 to 4096"},
    {"BLAME_PHASE_INSTANCES",
     OFFSET(phase_instances),
     10000,
     1,
     100000000,
     {NULL},
     "a whole number from 1 to 100000000"},
    {"BLAME_CSV", OFFSET(csv), 1, 0, 0, {"0", "1", NULL}, "0 or 1"},
    {"BLAME_SUMMARY", OFFSET(summary), 1, 0, 0, {"0", "1", NULL}, "0 or 1"},
    {"BLAME_PRIVATE", OFFSET(private), 0, 0, 0, {"0", "1", NULL}, "0 or 1"},
    {"BLAME_DISABLE", OFFSET(disable), 0, 0, 0, {"0", "1", NULL}, "0 or 1"},
};

#define OPTION_COUNT (sizeof(table) / sizeof(table[0]))

static bool parse(const struct option *option, const char *text, int *value)
{
    if (option->words[0]) {
        for (int i = 0; option->words[i]; i++)
            if (strcmp(text, option->words[i]) == 0) {
                *value = i;
                return true;
            }
        return false;
    }
    char *end;
    long number = strtol(text, &end, 10);
    if (end == text || *end || *text < '0' || *text > '9' || number < option->low || number > option->high)
        return false;
    *value = (int)number;
    return true;
}

static void print_value(const struct option *option, int value, char *text, size_t bytes)
{
    if (option->words[0])
        snprintf(text, bytes, "%s", option->words[value]);
    else
        snprintf(text, bytes, "%d", value);
}

/* calls@nanoseconds, or 0 for never. */
static bool parse_throttle(const char *text, struct options *options)
{
    char *at, *end;
    if (strcmp(text, "0") == 0) {
        options->throttle_ns = 0;
        return true;
    }
    unsigned long long calls = strtoull(text, &at, 10);
    if (*text < '0' || *text > '9' || *at != '@' || at[1] < '0' || at[1] > '9')
        return false;
    unsigned long long ns = strtoull(at + 1, &end, 10);
    if (*end || ns == 0 || calls == 0)
        return false;
    options->throttle_calls = calls;
    options->throttle_ns = ns;
    return true;
}

/* 50, rt16, RTMIN+16, RTMAX-14: a real-time signal, or one of those that programs seldom use. */
static bool parse_signal(const char *text, int *number)
{
    static const struct {
        const char *name;
        int base, sign;
    } forms[] = {{"SIGRTMIN+", 0, 1}, {"SIGRTMAX-", 1, -1}, {"RTMIN+", 0, 1}, {"RTMAX-", 1, -1}, {"rt", 0, 1}};
    static const int others[] = {SIGUSR1, SIGUSR2, SIGSTKFLT, SIGURG, SIGVTALRM, SIGPROF, SIGWINCH, SIGIO, SIGPWR};
    int base = 0, sign = 1;
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
        if (strncasecmp(text, forms[i].name, strlen(forms[i].name)) == 0) {
            text += strlen(forms[i].name);
            base = forms[i].base ? SIGRTMAX : SIGRTMIN;
            sign = forms[i].sign;
            break;
        }
    char *end;
    long value = strtol(text, &end, 10);
    if (*end || *text < '0' || *text > '9' || value > SIGRTMAX)
        return false;
    *number = base + sign * (int)value;
    for (size_t i = 0; !base && i < sizeof(others) / sizeof(others[0]); i++)
        if (*number == others[i])
            return true;
    return *number >= SIGRTMIN && *number <= SIGRTMAX;
}

static const char *text_of(const char *name)
{
    const char *text = secure_getenv(name);
    return text && *text ? text : NULL;
}

static void read_throttle(struct options *options)
{
    const char *text = text_of("BLAME_EVENTS_THROTTLE");
    options->throttle_calls = 100000; /* TAU's rule */
    options->throttle_ns = 2000;
    if (text && !parse_throttle(text, options))
        log_line("BLAME_EVENTS_THROTTLE=", text,
                 ": accepted is calls@nanoseconds, as in 100000@2000, or 0 for never; using 100000@2000", NULL);
}

static void read_signal(struct options *options)
{
    const char *text = text_of("BLAME_SIGNAL");
    options->signal = 0;
    if (text && !parse_signal(text, &options->signal)) {
        options->signal = 0;
        log_line("BLAME_SIGNAL=", text,
                 ": accepted is a real-time signal (34 to 64, RTMIN+n, RTMAX-n) or one of 10, 12, 16, 23, 26 to 30; using "
                 "the highest free real-time signal",
                 NULL);
    }
}

/* Those without a row in the table: read elsewhere, by other commands, between the launcher and the tool, or to come. Only the first
 * ones are for users, and named to them. */
static const char *const others[] = {"OUT",    "COUNTERS", "SAMPLE",      "EVENTS_INCLUDE", "EVENTS_EXCLUDE", "EVENTS_THROTTLE",
                                     "SIGNAL", "LIBOMP",   "NOTES",       "PROGRAM_PID",    "FOR_GCC",        "DB",
                                     "SEED",   "TRACE",    "TIMELINE"};

#define NAMED_COUNT (OPTION_COUNT + 8)
#define OTHER_COUNT (sizeof(others) / sizeof(others[0]))
#define NAME_BYTES  32

/* Letters to change, put in or take out. */
static size_t distance(const char *a, const char *b)
{
    size_t row[NAME_BYTES + 1], width = strlen(b);
    for (size_t j = 0; j <= width; j++)
        row[j] = j;
    for (size_t i = 1; a[i - 1]; i++) {
        size_t diagonal = row[0]++;
        for (size_t j = 1; j <= width; j++) {
            size_t best = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            best = best < row[j] + 1 ? best : row[j] + 1;
            row[j] = best < row[j - 1] + 1 ? best : row[j - 1] + 1;
        }
    }
    return row[width];
}

/* A variable that nothing reads is a slip, and its wish is not met. */
static void check_name(const char *entry)
{
    const char prefix[] = "BLAME_";
    char name[NAME_BYTES + 1];
    size_t bytes = strcspn(entry, "="), least = 3;
    const char *nearest = NULL;
    if (strncmp(entry, prefix, strlen(prefix)) != 0 || strncmp(entry + strlen(prefix), "TEST_", 5) == 0)
        return;
    snprintf(name, sizeof(name), "%.*s", (int)(bytes - strlen(prefix)), entry + strlen(prefix));
    for (size_t i = 0; i < OPTION_COUNT + OTHER_COUNT; i++) {
        const char *known = i < OPTION_COUNT ? table[i].name + strlen(prefix) : others[i - OPTION_COUNT];
        size_t letters = distance(name, known);
        if (letters == 0)
            return;
        if (letters < least && i < NAMED_COUNT) {
            least = letters;
            nearest = known;
        }
    }
    log_line(prefix, name, ": there is no such variable", nearest ? "; did you mean " : "", nearest ? prefix : "",
             nearest ? nearest : "", nearest ? "?" : ", see man libblame", NULL);
}

void options_from_environment(struct options *options)
{
    for (char **entry = environ; entry && *entry; entry++)
        check_name(*entry);
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const struct option *option = &table[i];
        int *value = (int *)((char *)options + option->offset);
        const char *text = secure_getenv(option->name);
        *value = option->fallback;
        if (!text || !*text || parse(option, text, value))
            continue;
        char fallback[16];
        print_value(option, option->fallback, fallback, sizeof(fallback));
        log_line(option->name, "=", text, ": accepted is ", option->accepted, "; using ", fallback, NULL);
    }
    options->out = text_of("BLAME_OUT");
    options->counters = text_of("BLAME_COUNTERS");
    options->sample = text_of("BLAME_SAMPLE");
    options->events_include = text_of("BLAME_EVENTS_INCLUDE");
    options->events_exclude = text_of("BLAME_EVENTS_EXCLUDE");
    read_throttle(options);
    read_signal(options);
}

static void print_events(const struct options *options, char *text, size_t used, size_t bytes)
{
    const char *include = options->events_include, *exclude = options->events_exclude;
    if (include)
        used += (size_t)snprintf(text + used, bytes - used, "BLAME_EVENTS_INCLUDE=%s\n", include);
    if (exclude && used < bytes)
        used += (size_t)snprintf(text + used, bytes - used, "BLAME_EVENTS_EXCLUDE=%s\n", exclude);
    if (used < bytes && options->throttle_ns)
        snprintf(text + used, bytes - used, "BLAME_EVENTS_THROTTLE=%llu@%llu\n",
                 (unsigned long long)options->throttle_calls, (unsigned long long)options->throttle_ns);
    else if (used < bytes)
        snprintf(text + used, bytes - used, "BLAME_EVENTS_THROTTLE=0\n");
}

void options_print(const struct options *options, char *text, size_t bytes)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < OPTION_COUNT && used < bytes; i++) {
        char value[16];
        print_value(&table[i], *(const int *)((const char *)options + table[i].offset), value, sizeof(value));
        used += (size_t)snprintf(text + used, bytes - used, "%s=%s\n", table[i].name, value);
    }
    if (options->signal && used < bytes)
        used += (size_t)snprintf(text + used, bytes - used, "BLAME_SIGNAL=%d\n", options->signal);
    print_events(options, text, used < bytes ? used : bytes, bytes);
}
