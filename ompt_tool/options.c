#include "ompt_tool/options.h"

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
    {"BLAME_CSV", OFFSET(csv), 1, 0, 0, {"0", "1", NULL}, "0 or 1"},
    {"BLAME_SUMMARY", OFFSET(summary), 1, 0, 0, {"0", "1", NULL}, "0 or 1"},
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

static const char *text_of(const char *name)
{
    const char *text = getenv(name);
    return text && *text ? text : NULL;
}

void options_read(struct options *options)
{
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const struct option *option = &table[i];
        int *value = (int *)((char *)options + option->offset);
        const char *text = getenv(option->name);
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
}
