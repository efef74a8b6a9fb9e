#include "ompt_tool/session/variables.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/os.h"
#include "ompt_tool/session/session.h"

#define TEXT(variable, field, ...) {{.name = variable, .kind = OPTION_TEXT, .to = &session.options.field}, NULL},
#define WHOLE(variable, field, fallback, least, most, ...)                                                             \
    {{.name = variable, .kind = OPTION_WHOLE, .to = &session.options.field, .low = least, .high = most}, #fallback},
#define W(word, about) {word, NULL},
#define WORD(variable, field, fallback, known, ...)                                                                    \
    {{.name = variable,                                                                                                \
      .kind = OPTION_WORD,                                                                                             \
      .to = &session.options.field,                                                                                    \
      .words = (const struct option_word[]){known{NULL, NULL}}},                                                       \
     fallback},
#define FORM(variable, field, fallback, reader, accepts, ...)                                                          \
    {{.name = variable, .kind = OPTION_FORM, .to = &(struct option_form){reader, accepts, &session.options.field}},    \
     fallback},

static const struct {
    struct option_spec option;
    const char *fallback;
} table[] = {RUN_OPTIONS(TEXT, WHOLE, WORD, W, FORM)};

/* Variables that other commands read, or that blame run sets for the tool. Only the first is meant for users,
 * so only the first is suggested for a misspelt name. */
static const char *const others[] = {
    "BLAME_GOMP",   "BLAME_LIBOMP", "BLAME_NOTES",    "BLAME_PROGRAM_PID", "BLAME_FOR_GCC", "BLAME_STARTED_AGAIN",
    "BLAME_FOLDER", "BLAME_TOOL",   "BLAME_PTHREADS", "BLAME_DB",          "BLAME_PYTHON"};

#define OPTION_COUNT (sizeof(table) / sizeof(table[0]))
#define NAMED_COUNT  (OPTION_COUNT + 1)
#define OTHER_COUNT  (sizeof(others) / sizeof(others[0]))

static const char *variables_known(size_t i)
{
    return i < OPTION_COUNT ? table[i].option.name : others[i - OPTION_COUNT];
}

/* Prints a message about a BLAME_ variable that nothing reads, because its name is probably misspelt. */
static void variables_check_name(const char *entry)
{
    static const char prefix[] = "BLAME_";
    char name[OPTION_NAME_BYTES + 1];
    size_t least = OPTION_NEAR_ENOUGH + 1;
    const char *nearest = NULL;
    if (strncmp(entry, prefix, strlen(prefix)) != 0 || strncmp(entry + strlen(prefix), "TEST_", 5) == 0)
        return;
    snprintf(name, sizeof(name), "%.*s", (int)strcspn(entry, "="), entry);
    for (size_t i = 0; i < OPTION_COUNT + OTHER_COUNT; i++)
        if (strcmp(name, variables_known(i)) == 0)
            return;
    for (size_t i = 0; i < NAMED_COUNT; i++) {
        size_t letters = option_distance(name, variables_known(i));
        if (letters < least) {
            least = letters;
            nearest = variables_known(i);
        }
    }
    log_line_of_job(name, ": there is no such variable", nearest ? "; did you mean " : "", nearest ? nearest : "",
                    nearest ? "?" : ", see man libblame", NULL);
}

/* Returns a copy of the text. The program may overwrite its environment with a title (setproctitle), after
 * which a forked child reads the copy. */
static const char *variables_keep(const char *text)
{
    char *copy = text ? os_map(strlen(text) + 1) : NULL;
    return copy ? strcpy(copy, text) : text;
}

void variables_read(void)
{
    session.options = (struct run_options){0};
    snprintf(session.program, sizeof(session.program), "%s", program_invocation_short_name);
    for (char **entry = environ; entry && *entry; entry++)
        variables_check_name(*entry);
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const struct option_spec *option = &table[i].option;
        const char *text = variables_keep(secure_getenv(option->name));
        char accepted[128];
        if (table[i].fallback)
            option_read(option, table[i].fallback);
        if (!text || !*text || option_read(option, text))
            continue;
        option_accepted(option, " or ", accepted, sizeof(accepted));
        log_line_of_job(option->name, "=", text, ": expected ", accepted, "; using ", table[i].fallback, NULL);
    }
}

static const char *variables_throttle_text(char *text, size_t bytes)
{
    const struct run_throttle *throttle = &session.options.events_throttle;
    if (!throttle->ns)
        return "0";
    snprintf(text, bytes, "%llu@%llu", (unsigned long long)throttle->calls, (unsigned long long)throttle->ns);
    return text;
}

/* Returns the option's value as text; NULL if it was not given and has no default. */
static const char *variables_value(const struct option_spec *option, char *text, size_t bytes)
{
    const int *number = option->to;
    if (option->kind == OPTION_WORD)
        return option->words[*number].word;
    if (option->kind == OPTION_TEXT)
        return *(const char *const *)option->to;
    if (option->kind == OPTION_FORM) {
        const struct option_form *form = option->to;
        if (form->read == run_option_job || form->read == run_option_trace || form->read == run_option_size)
            return *(const char *const *)form->to;
        if (form->read == run_option_throttle)
            return variables_throttle_text(text, bytes);
        if (form->read == run_option_meta) /* --meta describes the run, not how it is measured. */
            return NULL;
        number = form->to;
        if (!*number)
            return NULL;
    }
    snprintf(text, bytes, "%d", *number);
    return text;
}

/* Writes texts last, because they may be too long for the buffer. */
void variables_print(char *text, size_t bytes)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < 2 * OPTION_COUNT && used < bytes; i++) {
        const struct option_spec *option = &table[i % OPTION_COUNT].option;
        char buffer[48];
        const char *value = variables_value(option, buffer, sizeof(buffer));
        if (value && (option->kind == OPTION_TEXT) == (i >= OPTION_COUNT))
            used += (size_t)snprintf(text + used, bytes - used, "%s=%s\n", option->name, value);
    }
}
