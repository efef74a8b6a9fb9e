#include "command/cli/options.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/cli/newest.h"
#include "command/rows/metric.h"
#include "command/text/format.h"
#include "command/text/memory.h"

#define HELP_COLUMN    22  /* column in which the description of an option begins */
#define HELP_LINE_MOST 100 /* widest line in columns: longer ones are hard to read */

const struct option_word metric_words[] = {
#define METRIC(name, column, value, word, ...) {word, NULL},
    METRIC_TABLE(METRIC)
#undef METRIC
        {NULL, NULL},
};

static const struct {
    const char *typed, *meant;
} aliases[] = {{"-o", "--output"}, {"-o", "--out"}, {"--out", "--output"}, {"--output", "--out"}, {"-j", "--jobs"}};

#define ALIAS_COUNT (sizeof aliases / sizeof *aliases)

/* Returns the short form of an option, such as "-o"; NULL if it has none. */
static const char *option_letter(const struct option_spec *option)
{
    for (size_t i = 0; i < ALIAS_COUNT; i++)
        if (aliases[i].typed[1] != '-' && strcmp(aliases[i].meant, option->name) == 0)
            return aliases[i].typed;
    return NULL;
}

/* ---- help ---- */

/* Prints text in lines of `columns` columns, indented by `indent`. The cursor is already at that column. */
static void print_wrapped_help(const char *text, size_t indent, size_t columns)
{
    char *copy = memory_text("%s", text);
    for (char *at = copy; *at; at++)
        *at = *at == '\n' ? ' ' : *at;
    format_continued(stdout, copy, indent, columns);
    free(copy);
}

/* Prints an option's description and the words that it accepts, separated by commas. */
static void print_option_list(const struct option_spec *option, size_t columns)
{
    char *text;
    FILE *out = memory_stream(&text);
    fprintf(out, "%s%s", option->help, *option->help ? " " : "");
    for (const struct option_word *at = option->words; at->word; at++)
        fprintf(out, "%s%s", at->word, at[1].word ? ", " : "");
    memory_stream_close(out);
    print_wrapped_help(text, HELP_COLUMN, columns);
    free(text);
}

/* Prints the words that an option accepts with their meanings, one word a line. */
static void print_option_words(const struct option_word *words, bool first_line_taken, size_t columns)
{
    int width = 0;
    for (const struct option_word *at = words; at->word; at++)
        width = (int)strlen(at->word) > width ? (int)strlen(at->word) : width;
    for (const struct option_word *at = words; at->word; at++) {
        printf("%*s%-*s  ", at != words || first_line_taken ? HELP_COLUMN : 0, "", width, at->word);
        print_wrapped_help(at->about, (size_t)(HELP_COLUMN + width + 2), columns);
    }
}

static void print_option(const struct option_spec *option, size_t columns)
{
    char left[64];
    const char *letter = option_letter(option);
    snprintf(left, sizeof left, "  %s%s%s%s%s", letter ? letter : "", letter ? ", " : "", option->name,
             option->value ? " " : "", option->value ? option->value : "");
    if (strlen(left) + 2 > HELP_COLUMN)
        printf("%s\n%*s", left, HELP_COLUMN, "");
    else
        printf("%-*s", HELP_COLUMN, left);
    bool meanings = option->words && option->words->about;
    if (option->words && !meanings)
        print_option_list(option, columns);
    else if (*option->help)
        print_wrapped_help(option->help, HELP_COLUMN, columns);
    if (meanings)
        print_option_words(option->words, *option->help, columns);
}

/* Returns whether a line of help has the form `word   meaning`. */
static bool is_help_item(const char *line)
{
    size_t word = strspn(line, "abcdefghijklmnopqrstuvwxyz-");
    return word > 0 && line[word] == ' ' && line[word + 1] == ' ';
}

/* Prints the introduction of a command's help: wrapped paragraphs, and items with one line or more each. */
static void print_help_introduction(const char *about, size_t columns)
{
    char *copy = memory_text("%s", about), *rest = copy, *line, *paragraph = NULL;
    while ((line = strsep(&rest, "\n"))) {
        bool item = is_help_item(line);
        if (*line && !item) {
            char *longer = paragraph ? memory_text("%s %s", paragraph, line) : memory_text("%s", line);
            free(paragraph);
            paragraph = longer;
        }
        if (paragraph && (!*line || item || !rest || is_help_item(rest))) {
            format_paragraph(stdout, paragraph, columns);
            free(paragraph);
            paragraph = NULL;
        }
        if (!*line)
            putchar('\n');
        if (item) {
            size_t word = strcspn(line, " "), text = word + strspn(line + word, " ");
            printf("  %.*s", (int)text, line);
            format_continued(stdout, line + text, text + 2, columns);
        }
    }
    free(copy);
    putchar('\n');
}

/* Returns the heading that precedes an option in --help, NULL if there is none. */
static const char *heading_above(const struct usage *usage, const struct option_spec *option)
{
    for (const struct option_word *at = usage->groups; at && at->word; at++)
        if (strcmp(at->word, option->name) == 0)
            return at->about;
    return NULL;
}

static const struct option_spec help_option = {"--help", OPTION_FLAG, NULL, NULL, NULL, 0, 0, "show this text"};

static void options_print_help(const struct usage *usage)
{
    size_t columns = format_terminal_columns(stdout);
    columns = columns > HELP_LINE_MOST ? HELP_LINE_MOST : columns;
    printf("usage: blame %s %s\n\n", usage->command, usage->synopsis);
    if (usage->about)
        print_help_introduction(usage->about, columns);
    for (size_t i = 0; i < usage->options.count; i++) {
        const char *heading = heading_above(usage, &usage->options.option[i]);
        if (heading)
            printf("%s%s:\n", i ? "\n" : "", heading);
        print_option(&usage->options.option[i], columns);
    }
    print_option(&help_option, columns);
    if (usage->examples)
        printf("\nexamples:\n%s\n", usage->examples);
}

/* Prints each line of a text as KIND<TAB>LINE. */
static void describe_lines(const char *kind, const char *text)
{
    for (const char *end; text && *text; text = *end ? end + 1 : end) {
        end = strchrnul(text, '\n');
        printf("%s\t%.*s\n", kind, (int)(end - text), text);
    }
}

/* Returns the value of an option that is given without one; NULL if the option always needs a value. */
static const char *value_of_option_alone(const struct usage *usage, const struct option_spec *option)
{
    for (const struct option_word *at = usage->alone; at && at->word; at++)
        if (strcmp(at->word, option->name) == 0)
            return at->about;
    return NULL;
}

static void describe_option(const struct usage *usage, const struct option_spec *option)
{
    const char *heading = heading_above(usage, option), *letter = option_letter(option);
    if (heading)
        printf("group\t%s\n", heading);
    printf("option\t%s\t%s\t%s\t%s\n", option->name, option->value ? option->value : "",
           value_of_option_alone(usage, option) ? "alone" : "", letter ? letter + 1 : "");
    describe_lines("help", option->help);
    for (const struct option_word *at = option->words; at && at->word; at++) {
        printf("word\t%s\n", at->word);
        describe_lines("meaning", at->about);
    }
}

/* Prints the contents of --help as one item a line, which command/cli/manual/manual.awk reads. */
static void options_describe(const struct usage *usage)
{
    printf("synopsis\t%s\n", usage->synopsis);
    describe_lines("about", usage->about);
    for (size_t i = 0; i < usage->options.count; i++)
        describe_option(usage, &usage->options.option[i]);
    describe_option(usage, &help_option);
    describe_lines("example", usage->examples);
}

/* ---- messages about wrong usage ---- */

#define SUGGESTED_PREFIX 3 /* fewest typed letters for which a longer word is suggested */

void options_suggest(struct option_suggestion *suggestion, const char *name)
{
    const char *typed = suggestion->typed + strspn(suggestion->typed, "-"), *known = name + strspn(name, "-");
    size_t letters = option_distance(typed, known),
           least = suggestion->name ? suggestion->letters : OPTION_NEAR_ENOUGH + 1;
    if (strlen(typed) >= SUGGESTED_PREFIX && strncmp(known, typed, strlen(typed)) == 0)
        letters = 1; /* The user typed the start of a known word, such as idle for idleness. */
    if (letters >= least || 2 * letters > strlen(typed))
        return;
    suggestion->letters = letters;
    suggestion->name = name;
}

void options_print_suggestion(const struct option_suggestion *suggestion)
{
    if (suggestion->name)
        fprintf(stderr, " did you mean %s?", suggestion->name);
}

static enum options_result wrong_option(const struct usage *usage, const char *text)
{
    char *typed = memory_text("%.*s", (int)strcspn(text, "="), text);
    struct option_suggestion suggestion = {.typed = typed};
    for (size_t i = 0; i < usage->options.count; i++)
        options_suggest(&suggestion, usage->options.option[i].name);
    fprintf(stderr, "blame %s: unknown option %s;", usage->command, text);
    options_print_suggestion(&suggestion);
    fputs(" expected one of", stderr);
    for (size_t i = 0; i < usage->options.count; i++)
        fprintf(stderr, " %s,", usage->options.option[i].name);
    fputs(" --help\n", stderr);
    free(typed);
    return OPTIONS_WRONG;
}

static const struct option_spec *find_option_named(const struct usage *usage, const char *text, size_t bytes)
{
    for (size_t i = 0; i < usage->options.count; i++) {
        const char *name = usage->options.option[i].name;
        if (strlen(name) == bytes && strncmp(text, name, bytes) == 0)
            return &usage->options.option[i];
    }
    return NULL;
}

/* Returns the option whose name or alias is `bytes` bytes long and begins `text`; NULL if there is none. */
static const struct option_spec *find_option(const struct usage *usage, const char *text, size_t bytes)
{
    const struct option_spec *option = find_option_named(usage, text, bytes);
    for (size_t i = 0; !option && i < ALIAS_COUNT; i++)
        if (strlen(aliases[i].typed) == bytes && strncmp(text, aliases[i].typed, bytes) == 0)
            option = find_option_named(usage, aliases[i].meant, strlen(aliases[i].meant));
    return option;
}

static enum options_result wrong_option_value(const struct usage *usage, const struct option_spec *option,
                                              const char *value)
{
    char accepted[512];
    bool words = option->kind == OPTION_WORD || option->kind == OPTION_NAME;
    struct option_suggestion suggestion = {.typed = value};
    for (const struct option_word *at = option->words; words && at->word; at++)
        options_suggest(&suggestion, at->word);
    option_accepted(option, ", ", accepted, sizeof accepted);
    fprintf(stderr, "blame %s: %s %s:", usage->command, option->name, *value ? value : "\"\"");
    options_print_suggestion(&suggestion);
    fprintf(stderr, " expected %s%s\n", words ? "one of " : "", accepted);
    return OPTIONS_WRONG;
}

static void set_option_variable(const struct usage *usage, const char *variable, const char *value)
{
    const char *before = usage->lines && strcmp(variable, usage->lines) == 0 ? getenv(variable) : NULL;
    char *all = before && *before ? memory_text("%s\n%s", before, value) : NULL;
    setenv(variable, all ? all : value, 1);
    free(all);
}

/* ---- reading ---- */

/* Reads the option argv[*at]. If the next argument is its value, advances *at. */
static enum options_result read_option(const struct usage *usage, int argc, char **argv, int *at)
{
    const char *text = argv[*at], *equals = strchr(text, '=');
    const struct option_spec *option = find_option(usage, text, strcspn(text, "="));
    if (!option)
        return wrong_option(usage, text);
    if (option->kind == OPTION_FLAG) {
        if (equals) {
            fprintf(stderr, "blame %s: %s takes no value, but %s was given\n", usage->command, option->name, equals);
            return OPTIONS_WRONG;
        }
        option_read(option, "");
        return OPTIONS_RUN;
    }
    const char *alone = equals || (*at + 1 < argc && isdigit((unsigned char)argv[*at + 1][0]))
                            ? NULL
                            : value_of_option_alone(usage, option);
    if (!alone && !equals && ++*at == argc) {
        fprintf(stderr, "blame %s: %s needs a value; see blame %s --help\n", usage->command, text, usage->command);
        return OPTIONS_WRONG;
    }
    const char *value = alone ? alone : equals ? equals + 1 : argv[*at];
    if (!option_read(option, value))
        return wrong_option_value(usage, option, value);
    if (usage->variables && usage->variables[option - usage->options.option])
        set_option_variable(usage, usage->variables[option - usage->options.option], value);
    return OPTIONS_RUN;
}

/* Uses the newest profile in the current directory as the operand. */
static enum options_result take_newest_profile(const struct usage *usage, const char **operand, int *count)
{
    operand[0] = newest_profile();
    if (!operand[0]) {
        fprintf(stderr, "blame %s: no profile was given, and the current directory has none; expected %s\n",
                usage->command, usage->operands);
        return OPTIONS_WRONG;
    }
    fprintf(stderr, "blame %s: no profile was given; using the newest one here, %s\n", usage->command, operand[0]);
    *count = 1;
    return OPTIONS_RUN;
}

static enum options_result check_operands(const struct usage *usage, const char **operand, int *count)
{
    const char *one = usage->operand ? usage->operand : "profile";
    if (*count == 0 && usage->operands_newest)
        return take_newest_profile(usage, operand, count);
    if (*count == 0 && !usage->operands_none) {
        fprintf(stderr, "blame %s: no %s was given; expected %s\n", usage->command, one, usage->operands);
        return OPTIONS_WRONG;
    }
    if (usage->operands_most && *count > usage->operands_most) {
        fprintf(stderr, "blame %s: %s and %s were given; expected one %s\n", usage->command, operand[0],
                operand[usage->operands_most], one);
        return OPTIONS_WRONG;
    }
    return OPTIONS_RUN;
}

enum options_result options_read(const struct usage *usage, struct option_table options, int argc, char **argv,
                                 const char **operand, int *operand_count)
{
    struct usage complete = *usage;
    complete.options = options;
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
            options_print_help(&complete);
            return OPTIONS_HELPED;
        }
        if (strcmp(argv[i], OPTIONS_DESCRIBE) == 0) {
            options_describe(&complete);
            return OPTIONS_HELPED;
        }
        if (read_option(&complete, argc, argv, &i) != OPTIONS_RUN)
            return OPTIONS_WRONG;
    }
    return check_operands(usage, operand, operand_count);
}
