#include "base/option.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool option_read_word(const struct option_word *words, int *to, const char *text)
{
    for (int i = 0; words[i].word; i++)
        if (strcmp(text, words[i].word) == 0) {
            *to = i;
            return true;
        }
    return false;
}

static bool option_read_name(const struct option_word *words, struct option_name *name, const char *text)
{
    bool word = option_read_word(words, &name->word, text);
    name->word = word ? name->word : -1;
    name->other = word ? NULL : text;
    return *text;
}

static bool option_read_whole(const struct option_spec *option, const char *text)
{
    char *end;
    long number = strtol(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || (double)number < option->low || (double)number > option->high)
        return false;
    *(int *)option->to = (int)number;
    return true;
}

static bool option_read_number(const struct option_spec *option, const char *text)
{
    char *end;
    double number = strtod(text, &end);
    if (!*text || *end || text[strspn(text, "+-.0123456789eE")] || !isfinite(number) || number < option->low ||
        number > option->high)
        return false;
    *(double *)option->to = number;
    return true;
}

bool option_read(const struct option_spec *option, const char *text)
{
    struct option_list *list = option->to;
    const struct option_form *form = option->to;
    switch (option->kind) {
    case OPTION_FLAG:
        *(bool *)option->to = true;
        return true;
    case OPTION_WORD:
        return option_read_word(option->words, option->to, text);
    case OPTION_NAME:
        return option_read_name(option->words, option->to, text);
    case OPTION_NUMBER:
        return option_read_number(option, text);
    case OPTION_WHOLE:
        return option_read_whole(option, text);
    case OPTION_FORM:
        return form->read(text, form->to);
    case OPTION_LIST:
        list->item[list->count++] = text;
        break;
    case OPTION_TEXT:
        *(const char **)option->to = text;
    }
    return *text != '\0';
}

void option_accepted(const struct option_spec *option, const char *between, char *text, size_t bytes)
{
    size_t used = 0;
    if (option->kind == OPTION_WORD || option->kind == OPTION_NAME)
        for (int i = 0; option->words[i].word && used < bytes; i++)
            used += (size_t)snprintf(text + used, bytes - used, "%s%s", i ? between : "", option->words[i].word);
    else if (option->kind == OPTION_FORM)
        snprintf(text, bytes, "%s", ((const struct option_form *)option->to)->accepted);
    else if (option->kind == OPTION_WHOLE || option->kind == OPTION_NUMBER)
        snprintf(text, bytes, "a %snumber from %.15g to %.15g", option->kind == OPTION_WHOLE ? "whole " : "",
                 option->low, option->high);
    else
        snprintf(text, bytes, "a non-empty %s", option->value);
}

size_t option_distance(const char *name, const char *known)
{
    size_t row[OPTION_NAME_BYTES + 1], width = strlen(known);
    for (size_t j = 0; j <= width; j++)
        row[j] = j;
    for (size_t i = 1; name[i - 1]; i++) {
        size_t diagonal = row[0]++;
        for (size_t j = 1; j <= width; j++) {
            size_t best = diagonal + (name[i - 1] != known[j - 1]);
            diagonal = row[j];
            best = best < row[j] + 1 ? best : row[j] + 1;
            row[j] = best < row[j - 1] + 1 ? best : row[j - 1] + 1;
        }
    }
    return row[width];
}
