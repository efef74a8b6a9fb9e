#include "cli/clean_stream.h"

#include <stdbool.h>
#include <stdlib.h>

#include "report/text/memory.h"

struct cleaner {
    FILE *terminal;
    bool c2; /* the byte before began one of the two-byte controls, or a Latin letter */
};

static ssize_t write_clean(void *cookie, const char *bytes, size_t size)
{
    struct cleaner *cleaner = cookie;
    for (size_t i = 0; i < size; i++) {
        unsigned char byte = (unsigned char)bytes[i];
        bool control = (byte < 0x20 && byte != '\n' && byte != '\r' && byte != '\t') || byte == 0x7f;
        if (cleaner->c2 && byte >= 0x80 && byte < 0xa0)
            byte = 0xa0; /* a space that is no control */
        cleaner->c2 = byte == 0xc2;
        putc(control ? '?' : byte, cleaner->terminal);
    }
    return ferror(cleaner->terminal) ? 0 : (ssize_t)size;
}

static int close_clean(void *cookie)
{
    free(cookie);
    return 0;
}

FILE *clean_stream(FILE *terminal)
{
    struct cleaner *cleaner = memory_array(1, sizeof *cleaner);
    cleaner->terminal = terminal;
    return memory_check(
        fopencookie(cleaner, "w", (cookie_io_functions_t){.write = write_clean, .close = close_clean}));
}
