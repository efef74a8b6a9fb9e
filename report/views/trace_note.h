/* One line about the trace of a profile that has one. */
#ifndef BLAME_REPORT_VIEWS_TRACE_NOTE_H
#define BLAME_REPORT_VIEWS_TRACE_NOTE_H

#include <stdio.h>

#include "report/profile/profile.h"

void view_text_trace_note(FILE *out, const struct profile *profile);

#endif
