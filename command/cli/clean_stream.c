#include "command/cli/clean_stream.h"

#include <stdbool.h>
#include <stdlib.h>

#include "command/text/format.h"
#include "command/text/memory.h"

struct cleaner {
    FILE *terminal;
    char sequence[5]; /* start of an incomplete UTF-8 sequence */
    size_t kept;
};

static size_t utf8_length_by(unsigned char first)
{
    return first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
}

static void put_clean_sequence(struct cleaner *cleaner)
{
    cleaner->sequence[cleaner->kept] = '\0';
    char *clean = format_clean(cleaner->sequence, true);
    fputs(clean, cleaner->terminal);
    free(clean);
    cleaner->kept = 0;
}

static ssize_t clean_stream_write(void *cookie, const char *bytes, size_t size)
{
    struct cleaner *cleaner = cookie;
    for (size_t i = 0; i < size; i++) {
        unsigned char byte = (unsigned char)bytes[i];
        bool control = (byte < 0x20 && byte != '\n' && byte != '\r' && byte != '\t') || byte == 0x7f;
        if (cleaner->kept && (byte & 0xc0) != 0x80)
            put_clean_sequence(cleaner);
        if (byte < 0x80)
            putc(control ? '?' : byte, cleaner->terminal);
        else
            cleaner->sequence[cleaner->kept++] = (char)byte;
        if (cleaner->kept && cleaner->kept == utf8_length_by((unsigned char)cleaner->sequence[0]))
            put_clean_sequence(cleaner);
    }
    fflush(cleaner->terminal);
    return ferror(cleaner->terminal) ? 0 : (ssize_t)size;
}

static int clean_stream_close(void *cookie)
{
    struct cleaner *cleaner = cookie;
    if (cleaner->kept)
        put_clean_sequence(cleaner);
    free(cleaner);
    return 0;
}

FILE *clean_stream(FILE *terminal)
{
    struct cleaner *cleaner = memory_array(1, sizeof *cleaner);
    cleaner->terminal = terminal;
    return memory_check(
        fopencookie(cleaner, "w", (cookie_io_functions_t){.write = clean_stream_write, .close = clean_stream_close}));
}

void clean_stderr(void)
{
    setvbuf(stderr, NULL, _IOFBF, BUFSIZ); /* Buffers each message whole, until the flush at its end. */
    stderr = clean_stream(stderr);
    setvbuf(stderr, NULL, _IOLBF, BUFSIZ);
}
