#include "html/embedded.h"

/* The path is from the repository's root, where make runs the compiler. */
__asm__(".pushsection .rodata\n"
        ".globl blame_page_begin, blame_page_end\n"
        ".hidden blame_page_begin, blame_page_end\n"
        "blame_page_begin:\n"
        ".incbin \"html/page/dist/page.html\"\n"
        "blame_page_end:\n"
        ".popsection\n");

extern const char blame_page_begin[] __attribute__((visibility("hidden")));
extern const char blame_page_end[] __attribute__((visibility("hidden")));

const char *html_embedded_page(size_t *bytes)
{
    *bytes = (size_t)(blame_page_end - blame_page_begin);
    return blame_page_begin;
}
