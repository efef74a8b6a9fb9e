/* What flang passes to the OpenMP runtime. */
#ifndef BLAME_REPORT_SYMBOLS_IDENTS_H
#define BLAME_REPORT_SYMBOLS_IDENTS_H

#include "report/symbols/module.h"

/* flang gives its outlined functions no line: the line of the construct by other evidence; 0: none. */
int symbols_idents_line(struct symbols_module *module, struct symbols_unit *unit,
                        struct symbols_function *function, const char *host, int host_line);

#endif
