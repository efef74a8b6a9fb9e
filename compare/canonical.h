/* Names without what changes from build to build. */
#ifndef BLAME_COMPARE_CANONICAL_H
#define BLAME_COMPARE_CANONICAL_H

#include <stddef.h>

#include "report/rows.h"

/* The name of a function or construct without the compiler's numbers: of lambdas and unnamed types, of copies
 * that the optimiser made (".isra.0", " [clone .cold]"), and without the place of a construct:
 * "relax [parallel]". malloc'ed; NULL: no memory. [init] */
char *canonical_name(enum row_kind kind, const char *name);

/* A module without its version: "libfoo.so" of "libfoo.so.1.2". malloc'ed; NULL: no memory. [init] */
char *canonical_module(const char *module);

/* Bytes of "function" in "function [parallel file.c:1]"; 0: the function is not known. [init] */
size_t canonical_host_bytes(const char *canonical);

#endif
