/* Binds the calls of our own libraries to the libraries that they were linked with, whatever functions the
 * program defines.
 *
 * The dynamic loader binds a name to the first object of the process that exports it: the program, or a
 * preloaded library, before libc. A program may define a function `fstat` of its own, and a preloaded `open`
 * may hold a lock that our signal handler would wait for. So a constructor looks up each function again, by
 * its name and version, in the tables of the library that we were linked with, and writes its address into
 * our table of imports (GOT). It does the same for libunwind and Zydis.
 *
 * Three kinds of names keep the loader's binding: data (`environ` may be in the program), heap functions,
 * because memory that libc allocates for us belongs to the program's heap, and weak names, which ask what the
 * program has. docs/concurrency.md, "Names". */
#ifndef BLAME_BASE_BIND_H
#define BLAME_BASE_BIND_H

/* Returns the name of a function that was not found in its library and still has the loader's binding; NULL
 * if all were found; "" if nothing could be looked up. [init] */
const char *bind_left(void);

/* Returns the address of a function of the C library or of its loader; NULL if there is none. If their tables
 * are unreadable, it returns any function with that name. [init] */
void *bind_find_in_libc(const char *name);

#endif
