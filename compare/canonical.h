/* Names without what changes from build to build. */
#ifndef BLAME_COMPARE_CANONICAL_H
#define BLAME_COMPARE_CANONICAL_H

#include <stddef.h>

#include "report/rows/row.h"

/* The name of a function or construct without what differs between builds and compilers: parameters (GCC has
 * none of inlined functions), numbers of lambdas and unnamed types, marks of copies that the optimiser made
 * (".isra.0", " [clone .cold]"), and the place of a construct: "relax [parallel]". malloc'ed. */
char *canonical_name(enum row_kind kind, const char *name);

/* A module without its version: "libfoo.so" of "libfoo.so.1.2". malloc'ed. */
char *canonical_module(const char *module);

/* Bytes of the function around a construct or a lambda: of "function" in "function [parallel]", of "main" in
 * "main::operator()"; 0: the name is neither, or says none. */
size_t canonical_host_bytes(const char *canonical);

#endif
