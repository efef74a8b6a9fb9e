/* A model as code: settings by the features of an input. */
#ifndef BLAME_LEARN_WRITE_H
#define BLAME_LEARN_WRITE_H

#include <stdio.h>

#include "learn/model.h"

/* A C header (C++, too), and functions of a POSIX shell, for a model of what is known before a run. */
void write_header(FILE *out, const struct model *model, const char *application);
void write_shell(FILE *out, const struct model *model, const char *application);

#endif
