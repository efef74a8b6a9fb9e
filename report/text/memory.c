#include "report/text/memory.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void (*memory_exhausted)(void);

void *memory_check(void *memory)
{
    if (memory)
        return memory;
    if (memory_exhausted)
        memory_exhausted();
    else
        fputs("blame: not enough memory\n", stderr);
    exit(EXIT_FAILURE);
}

void *memory_array(size_t count, size_t bytes)
{
    return memory_check(calloc(count ? count : 1, bytes));
}

void memory_grow(void *list, size_t *room, size_t count, size_t item_bytes)
{
    void *items;
    if (count < *room)
        return;
    memcpy(&items, list, sizeof items);
    *room = *room ? *room * 2 : 64;
    items = memory_check(reallocarray(items, *room, item_bytes));
    memcpy(list, &items, sizeof items);
}

char *memory_text(const char *format, ...)
{
    char *text;
    va_list arguments;
    va_start(arguments, format);
    int bytes = vasprintf(&text, format, arguments);
    va_end(arguments);
    return memory_check(bytes < 0 ? NULL : text);
}

FILE *memory_stream(char **text)
{
    static size_t bytes; /* nobody asks for it */
    return memory_check(open_memstream(text, &bytes));
}

void memory_stream_close(FILE *stream)
{
    if (fclose(stream) != 0)
        memory_check(NULL);
}
