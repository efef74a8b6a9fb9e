/* The table of tests/differential/code.f90, for a library of both. */
#include <stddef.h>

#include "tests/differential/code.h"

#define CASES(X)                                                                                                       \
    X(recursion) X(automatic) X(expressions) X(formats) X(texts) X(allocations) X(callbacks) X(inner) X(numbers)

#define DECLARE(name) void code_##name(void);
CASES(DECLARE)

#define CASE(name) {#name, code_##name},
static const struct code_case cases[] = {CASES(CASE){NULL, NULL}};

const struct code_variant CODE_VARIANT = {CODE_NAME, cases, false};
