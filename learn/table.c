#include "learn/table.h"

#include <stdlib.h>
#include <string.h>

#include "report/text/memory.h"

int words_find(const struct words *words, const char *word)
{
    for (size_t i = 0; i < words->count; i++)
        if (strcmp(words->word[i], word) == 0)
            return (int)i;
    return LEARN_NONE;
}

int words_put(struct words *words, const char *word)
{
    int found = words_find(words, word);
    if (found != LEARN_NONE)
        return found;
    memory_grow(&words->word, &words->room, words->count, sizeof *words->word);
    words->word[words->count] = memory_text("%s", word);
    return (int)words->count++;
}

void words_free(struct words *words)
{
    for (size_t i = 0; i < words->count; i++)
        free(words->word[i]);
    free(words->word);
    *words = (struct words){0};
}

double learn_value(const struct learn_table *table, size_t at, size_t feature)
{
    return table->value[at * table->feature_count + feature];
}

void learn_table_free(struct learn_table *table)
{
    for (size_t i = 0; i < table->feature_count; i++) {
        free(table->feature[i].name);
        words_free(&table->feature[i].words);
    }
    free(table->feature);
    free(table->value);
    free(table->label);
    words_free(&table->classes);
    *table = (struct learn_table){0};
}
