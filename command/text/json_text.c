#include "command/text/json_text.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "command/text/format.h"
#include "command/text/memory.h"

static int json_put_escaped(const char *buffer, size_t bytes, void *out)
{
    for (size_t i = 0; i < bytes; i++)
        if (buffer[i] == '<')
            fputs("\\u003c", out);
        else
            putc(buffer[i], out);
    return 0;
}

/* Writes a JSON value. The caller detects write errors when it closes `out`. */
static void json_dump_value(FILE *out, const json_t *value, size_t flags)
{
    if (json_dump_callback(value, json_put_escaped, out, flags) != 0)
        memory_check(NULL);
}

void json_text(FILE *out, const char *text)
{
    char *clean = format_clean(text, false);
    json_t *json = memory_check(json_string(clean));
    json_dump_value(out, json, JSON_ENCODE_ANY);
    json_decref(json);
    free(clean);
}

void json_value(FILE *out, const json_t *value)
{
    json_dump_value(out, value, JSON_COMPACT | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(12));
}

void json_decimal(FILE *out, double value, int decimals)
{
    char number[FORMAT_NUMBER_BYTES];
    format_decimal(number, value, decimals);
    if (strchr(number, '.')) {
        size_t end = strlen(number);
        while (number[end - 1] == '0')
            end--;
        number[number[end - 1] == '.' ? end - 1 : end] = '\0';
    }
    fputs(number, out);
}
