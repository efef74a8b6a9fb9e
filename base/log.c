#include "base/log.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include "base/os.h"

#define LINE_BYTES 1024

/* Names and values come from anywhere: what could move a terminal's cursor or end the line is shown as '?'. */
static size_t append(char *line, size_t used, const char *text)
{
    for (; *text && used < LINE_BYTES - 1; text++) {
        unsigned char byte = (unsigned char)*text;
        line[used++] = byte < ' ' || byte == 0x7f ? '?' : *text;
    }
    return used;
}

static bool mute;

bool log_begin(void)
{
    mute = mute || fcntl(STDERR_FILENO, F_GETFD) < 0;
    return !mute;
}

void log_line(const char *first, ...)
{
    if (mute)
        return;
    char line[LINE_BYTES];
    size_t used = append(line, 0, "blame: ");
    va_list list;
    va_start(list, first);
    for (const char *text = first; text; text = va_arg(list, const char *))
        used = append(line, used, text);
    va_end(list);
    line[used++] = '\n';
    struct os_write_guard guard;
    os_guard_writes(&guard);
    os_write(STDERR_FILENO, line, used);
    os_unguard_writes(&guard);
}

const char *log_decimal(uint64_t value, char *buffer)
{
    char digits[20];
    int count = 0;
    do
        digits[count++] = (char)('0' + value % 10);
    while (value /= 10);
    for (int i = 0; i < count; i++)
        buffer[i] = digits[count - 1 - i];
    buffer[count] = '\0';
    return buffer;
}
