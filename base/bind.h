/* Binds the calls of our libraries to the functions with which the libraries were linked, whatever functions
 * the program defines.
 *
 * The dynamic loader binds a name to the first object of the process that exports it, and the program and
 * preloaded libraries come before libc. So we would call a function `fstat` that the program defines, and a
 * preloaded `open` might hold a lock for which our signal handler would wait. Therefore a constructor looks
 * up each function again, by name and version, in the library with which we were linked, and writes its
 * address into our import table (GOT). It does the same for libunwind and Zydis.
 *
 * Three kinds of names keep the loader's binding: data (`environ` may be in the program), heap functions
 * (memory that libc allocates for us belongs to the program's heap), and weak names (which show what the
 * program has). See docs/concurrency.md, "Names". */
#ifndef BLAME_BASE_BIND_H
#define BLAME_BASE_BIND_H

/* Returns the name of a function that keeps the loader's binding because its library does not define the
 * function; NULL if there is none; "" if nothing could be looked up. [init] */
const char *bind_left(void);

/* Returns the address of a function of the C library or the dynamic loader; NULL if there is none. If their
 * tables cannot be read, returns the first function in the process with that name. [init] */
void *bind_find_in_libc(const char *name);

#endif
