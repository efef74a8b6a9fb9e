#include "command/cli/options.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/rows/metric.h"
#include "command/text/memory.h"

#define HELP_COLUMN 22 /* where the text about an option begins */
#define HELP_WORDS  70 /* columns of words behind it */

const struct option_word metric_words[] = {
#define METRIC(name, word, title, unit, about) {word, NULL},
    METRIC_TABLE(METRIC)
#undef METRIC
        {NULL, NULL},
};

static void print_lines(const char *text, int indent)
{
    for (; *text; text++) {
        putchar(*text);
        if (*text == '\n')
            printf("%*s", indent, "");
    }
}

/* Each with what it means, or as many in a line as fit. */
static void print_words(const struct option_word *words, bool behind)
{
    int width = 0, used = 0;
    for (const struct option_word *at = words; at->word; at++)
        width = at->about && (int)strlen(at->word) > width ? (int)strlen(at->word) : width;
    for (const struct option_word *at = words; at->word; at++) {
        const char *comma = !at->about && at[1].word ? "," : "";
        int bytes = (int)(strlen(at->word) + strlen(comma)) + 1;
        bool begin = at->about || used == 0 || used + bytes > HELP_WORDS;
        if (begin && (behind || at != words))
            printf("\n%*s", HELP_COLUMN, "");
        used = begin ? bytes : used + bytes;
        if (at->about) {
            printf("%-*s  ", width, at->word);
            print_lines(at->about, HELP_COLUMN + width + 2);
        } else {
            printf("%s%s%s", begin ? "" : " ", at->word, comma);
        }
    }
}

static void print_option(const struct option_spec *option)
{
    char left[64];
    snprintf(left, sizeof left, "  %s%s%s", option->name, option->value ? " " : "", option->value ? option->value : "");
    if (strlen(left) + 2 > HELP_COLUMN)
        printf("%s\n%*s", left, HELP_COLUMN, "");
    else
        printf("%-*s", HELP_COLUMN, left);
    print_lines(option->help, HELP_COLUMN);
    if (option->words)
        print_words(option->words, *option->help);
    putchar('\n');
}

static void print_help(const struct usage *usage)
{
    printf("usage: blame %s %s\n\n", usage->command, usage->synopsis);
    if (usage->about)
        printf("%s\n\n", usage->about);
    for (size_t i = 0; i < usage->option_count; i++)
        print_option(&usage->options[i]);
    printf("%-*sthis text\n", HELP_COLUMN, "  --help");
    if (usage->examples)
        printf("\nexamples:\n%s\n", usage->examples);
}

/* Each of the text's lines as KIND<TAB>LINE. */
static void describe_lines(const char *kind, const char *text)
{
    for (const char *end; text && *text; text = *end ? end + 1 : end) {
        end = strchrnul(text, '\n');
        printf("%s\t%.*s\n", kind, (int)(end - text), text);
    }
}

/* The value of an option that has none; NULL: it has to. */
static const char *value_alone(const struct usage *usage, const struct option_spec *option)
{
    for (const struct option_word *at = usage->alone; at && at->word; at++)
        if (strcmp(at->word, option->name) == 0)
            return at->about;
    return NULL;
}

/* What --help says, by kind of line, for command/cli/manual/manual.awk. */
static void describe(const struct usage *usage)
{
    printf("synopsis\t%s\n", usage->synopsis);
    describe_lines("about", usage->about);
    for (size_t i = 0; i < usage->option_count; i++) {
        const struct option_spec *option = &usage->options[i];
        printf("option\t%s\t%s\t%s\n", option->name, option->value ? option->value : "",
               value_alone(usage, option) ? "alone" : "");
        describe_lines("help", option->help);
        for (const struct option_word *at = option->words; at && at->word; at++) {
            printf("word\t%s\n", at->word);
            describe_lines("meaning", at->about);
        }
    }
    puts("option\t--help\t\nhelp\tthis text");
    describe_lines("example", usage->examples);
}

static enum options_result wrong_option(const struct usage *usage, const char *text)
{
    fprintf(stderr, "blame %s: %s: no such option; accepted are", usage->command, text);
    for (size_t i = 0; i < usage->option_count; i++)
        fprintf(stderr, " %s,", usage->options[i].name);
    fputs(" --help\n", stderr);
    return OPTIONS_WRONG;
}

static const struct option_spec *find(const struct usage *usage, const char *text, size_t bytes)
{
    for (size_t i = 0; i < usage->option_count; i++) {
        const char *name = usage->options[i].name;
        if (strlen(name) == bytes && strncmp(text, name, bytes) == 0)
            return &usage->options[i];
    }
    return NULL;
}

static enum options_result wrong_value(const struct usage *usage, const struct option_spec *option, const char *value)
{
    char accepted[512];
    option_accepted(option, ", ", accepted, sizeof accepted);
    fprintf(stderr, "blame %s: %s %s: accepted %s %s\n", usage->command, option->name, *value ? value : "\"\"",
            option->kind == OPTION_WORD || option->kind == OPTION_NAME ? "are" : "is", accepted);
    return OPTIONS_WRONG;
}

static void set_variable(const struct usage *usage, const char *variable, const char *value)
{
    const char *before = usage->lines && strcmp(variable, usage->lines) == 0 ? getenv(variable) : NULL;
    char *all = before && *before ? memory_text("%s\n%s", before, value) : NULL;
    setenv(variable, all ? all : value, 1);
    free(all);
}

/* One option at argv[*at], with its value perhaps in the next. */
static enum options_result read_option(const struct usage *usage, int argc, char **argv, int *at)
{
    const char *text = argv[*at], *equals = strchr(text, '=');
    const char *name = strcmp(text, "-o") == 0 ? "--output" : strcmp(text, "-j") == 0 ? "--jobs" : text;
    size_t bytes = name != text ? strlen(name) : equals ? (size_t)(equals - text) : strlen(text);
    const struct option_spec *option = find(usage, name, bytes);
    if (!option)
        return wrong_option(usage, text);
    if (option->kind == OPTION_FLAG) {
        if (equals) {
            fprintf(stderr, "blame %s: %s: takes no value: give it alone\n", usage->command, option->name);
            return OPTIONS_WRONG;
        }
        option_read(option, "");
        return OPTIONS_RUN;
    }
    const char *alone =
        equals || (*at + 1 < argc && isdigit((unsigned char)argv[*at + 1][0])) ? NULL : value_alone(usage, option);
    if (!alone && !equals && ++*at == argc) {
        fprintf(stderr, "blame %s: %s: a value must follow; see blame %s --help\n", usage->command, text,
                usage->command);
        return OPTIONS_WRONG;
    }
    const char *value = alone ? alone : equals ? equals + 1 : argv[*at];
    if (!option_read(option, value))
        return wrong_value(usage, option, value);
    if (usage->variables && usage->variables[option - usage->options])
        set_variable(usage, usage->variables[option - usage->options], value);
    return OPTIONS_RUN;
}

static enum options_result check_operands(const struct usage *usage, const char **operand, int count)
{
    const char *one = usage->operand ? usage->operand : "profile";
    if (count == 0 && !usage->operands_none) {
        fprintf(stderr, "blame %s: no %s given; accepted %s\n", usage->command, one, usage->operands);
        return OPTIONS_WRONG;
    }
    if (usage->operands_most && count > usage->operands_most) {
        fprintf(stderr, "blame %s: %s: one %s is accepted, and %s was given already\n", usage->command,
                operand[usage->operands_most], one, operand[0]);
        return OPTIONS_WRONG;
    }
    return OPTIONS_RUN;
}

enum options_result options_read(const struct usage *usage, const struct option_spec *options, size_t option_count,
                                 int argc, char **argv, const char **operand, int *operand_count)
{
    struct usage complete = *usage;
    complete.options = options;
    complete.option_count = option_count;
    bool options_end = false;
    *operand_count = 0;
    for (int i = 1; i < argc; i++) {
        if (options_end || argv[i][0] != '-' || !argv[i][1]) {
            options_end |= usage->is_program;
            operand[(*operand_count)++] = argv[i];
            continue;
        }
        if (strcmp(argv[i], "--") == 0) {
            options_end = true;
            continue;
        }
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            print_help(&complete);
            return OPTIONS_HELPED;
        }
        if (strcmp(argv[i], OPTIONS_DESCRIBE) == 0) {
            describe(&complete);
            return OPTIONS_HELPED;
        }
        if (read_option(&complete, argc, argv, &i) != OPTIONS_RUN)
            return OPTIONS_WRONG;
    }
    return check_operands(usage, operand, *operand_count);
}
