#include "ompt_tool/counters/counter_names.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void counter_name_copy_trimmed(char *to, const char *from, size_t bytes)
{
    while (bytes && isspace((unsigned char)*from))
        from++, bytes--;
    while (bytes && isspace((unsigned char)from[bytes - 1]))
        bytes--;
    snprintf(to, COUNTER_NAME_BYTES, "%.*s", (int)bytes, from);
}

bool counter_names_next(const char **list, char name[COUNTER_NAME_BYTES])
{
    name[0] = '\0';
    while (**list && !name[0]) {
        size_t bytes = strcspn(*list, ",");
        counter_name_copy_trimmed(name, *list, bytes);
        *list += bytes + ((*list)[bytes] == ',');
    }
    return name[0] != '\0';
}

bool counter_names_split(const char *text, char name[COUNTER_NAME_BYTES], uint64_t *period)
{
    const char *at = strrchr(text, '@');
    if (!at || at[1] < '0' || at[1] > '9' || strlen(at + 1) > 11)
        return false;
    char *end;
    *period = strtoull(at + 1, &end, 10);
    counter_name_copy_trimmed(name, text, (size_t)(at - text));
    return !*end && name[0] && *period >= 1 && *period <= COUNTER_MOST_PERIOD;
}

static unsigned counter_name_edits(const char *a, const char *b)
{
    unsigned row[COUNTER_NAME_BYTES + 1];
    size_t a_bytes = strnlen(a, COUNTER_NAME_BYTES), b_bytes = strnlen(b, COUNTER_NAME_BYTES);
    for (size_t j = 0; j <= b_bytes; j++)
        row[j] = (unsigned)j;
    for (size_t i = 1; i <= a_bytes; i++) {
        unsigned diagonal = row[0];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= b_bytes; j++) {
            bool same = tolower((unsigned char)a[i - 1]) == tolower((unsigned char)b[j - 1]);
            unsigned best = diagonal + !same;
            diagonal = row[j];
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return row[b_bytes];
}

static const char *counter_name_last_part(const char *name)
{
    for (const char *at; (at = strstr(name, "::"));)
        name = at + 2;
    return name;
}

unsigned counter_names_distance(const char *wanted, const char *name)
{
    unsigned whole = counter_name_edits(wanted, name),
             part = counter_name_edits(counter_name_last_part(wanted), counter_name_last_part(name));
    return part < whole ? part : whole;
}

bool counter_nearest_wants(const struct counter_nearest *nearest, const char *wanted, const char *name)
{
    return nearest->count < COUNTER_NEAREST ||
           counter_names_distance(wanted, name) < nearest->distance[COUNTER_NEAREST - 1];
}

void counter_nearest_add(struct counter_nearest *nearest, const char *wanted, const char *name)
{
    unsigned distance = counter_names_distance(wanted, name), at = nearest->count;
    if (!counter_nearest_wants(nearest, wanted, name))
        return;
    if (nearest->count < COUNTER_NEAREST)
        nearest->count++;
    else
        at--;
    for (; at > 0 && distance < nearest->distance[at - 1]; at--) {
        nearest->distance[at] = nearest->distance[at - 1];
        strcpy(nearest->name[at], nearest->name[at - 1]);
    }
    nearest->distance[at] = distance;
    snprintf(nearest->name[at], COUNTER_NAME_BYTES, "%s", name);
}
