/* Calls of one function. */
#ifndef BLAME_REPORT_SYMBOLS_CALL_LIST_H
#define BLAME_REPORT_SYMBOLS_CALL_LIST_H

#include <stddef.h>

#include "report/symbols/symbol.h"

struct symbols_call_list {
    struct symbol_call *list;
    size_t count, room;
};

#endif
