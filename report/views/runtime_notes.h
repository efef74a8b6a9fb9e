/* What the summary says of other runtimes in the process: of OpenMP's, and of Python. */
#ifndef BLAME_REPORT_VIEWS_RUNTIME_NOTES_H
#define BLAME_REPORT_VIEWS_RUNTIME_NOTES_H

#include <stdbool.h>
#include <stdio.h>

#include "report/profile/profile.h"

void runtime_notes_print(FILE *out, const struct profile *profile, size_t columns, bool utf8);

#endif
