/* Writes texts and numbers into the data of the page. */
#include <stdlib.h>
#include <string.h>

#include "command/html/page.h"
#include "command/text/format.h"
#include "command/text/json_text.h"

uint32_t page_string(struct page *page, const char *text)
{
    uint32_t id = strings_intern(page->strings, text);
    if (id >= page->string_count)
        page->string_count = id + 1;
    return id;
}

void page_text(struct page *page, const char *text)
{
    json_text(page->out, text);
}

void page_whole(FILE *out, int64_t value)
{
    char number[FORMAT_NUMBER_BYTES];
    if (value < 0)
        putc_unlocked('-', out);
    char *end = format_integer(number, value < 0 ? -(uint64_t)value : (uint64_t)value);
    fwrite_unlocked(number, 1, (size_t)(end - number), out);
}

void page_micro(FILE *out, double seconds)
{
    char number[FORMAT_NUMBER_BYTES], *first = number;
    if (seconds == 0) {
        putc_unlocked('0', out);
        return;
    }
    char *end = format_micro(number, seconds), *point = memchr(number, '.', (size_t)(end - number));
    memmove(point, point + 1, (size_t)(end - point - 1));
    end--;
    if (*first == '-')
        putc_unlocked(*first++, out);
    while (*first == '0' && first + 1 < end)
        first++;
    fwrite_unlocked(first, 1, (size_t)(end - first), out);
}

void page_put_seconds(struct page *page, const char *before, double ns)
{
    fputs(before, page->out);
    json_decimal(page->out, ns * 1e-9, 6);
}

static void page_base64_put_group(struct base64 *to)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    to->bits <<= 8 * (3 - to->count);
    for (int i = 0; i < 4; i++)
        putc_unlocked(i > to->count ? '=' : digit[to->bits >> 6 * (3 - i) & 63], to->out);
    to->bits = 0;
    to->count = 0;
}

void page_base64_put(struct base64 *to, uint8_t byte)
{
    to->bits = to->bits << 8 | byte;
    if (++to->count == 3)
        page_base64_put_group(to);
}

void page_base64_end(struct base64 *to)
{
    if (to->count)
        page_base64_put_group(to);
}
