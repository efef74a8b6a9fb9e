/* The page without data: html/page/dist/page.html, as it was when blame was built. */
#ifndef BLAME_HTML_EMBEDDED_H
#define BLAME_HTML_EMBEDDED_H

#include <stddef.h>

/* What stands in the page where its data belongs. */
#define HTML_DATA_MARK "<!--BLAME-DATA-->"

/* Not ended by a zero byte. */
const char *html_embedded_page(size_t *bytes);

#endif
