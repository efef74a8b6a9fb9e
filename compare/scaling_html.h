/* The page of `blame scaling`: one file, no script, no network. */
#ifndef BLAME_COMPARE_SCALING_HTML_H
#define BLAME_COMPARE_SCALING_HTML_H

#include "compare/scaling_view.h"

/* style->columns is not used. */
void scaling_html(FILE *out, const struct scaling *scaling, const struct scaling_style *style, const char *title);

#endif
