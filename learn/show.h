/* A model, and how well it does, as text. */
#ifndef BLAME_LEARN_SHOW_H
#define BLAME_LEARN_SHOW_H

#include <stdio.h>

#include "learn/model.h"

/* Its trees, a dimension after another. */
void show_trees(FILE *out, const struct model *model, const char *before);
/* Sentences on its error; each line begins with `before`. */
void show_error(FILE *out, const struct model *model, const char *before);
/* Why it is not to be used; NULL: it is. */
const char *show_refusal(const struct model *model);

/* Text that is the same in a C string, in an awk string between single quotes, and in a comment: what could end these is written in octal. */
void show_text(FILE *out, const char *text);

#endif
