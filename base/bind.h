/* Binds what a library of ours calls to the libraries that it was linked with, whatever the program calls its own functions.
 *
 * The dynamic loader binds a name to the first object of the process that exports it: the program, or a preloaded library,
 * before libc. A program may call a function of its own `fstat`, and a preloaded `open` may hold a lock that our signal
 * handler meets. So a constructor looks up each function again, by its name and version, in the tables of the library that
 * it was linked with, and writes its address into our table of imports (GOT). It does the same for libunwind and Zydis.
 *
 * What stays as the loader bound it: data (`environ` may live in the program); the functions of the heap, since what libc
 * allocates for us belongs to the program's heap; weak names, by which we ask what the program has. docs/concurrency.md, "Names". */
#ifndef BLAME_BASE_BIND_H
#define BLAME_BASE_BIND_H

/* Returns the name of a function that was not found where it belongs and is called as the loader bound it, NULL if all were
 * found; "": nothing could be looked up. [init] */
const char *bind_left(void);

/* Returns the address of a function of the C library or of its loader, NULL if there is none; where their tables cannot be
 * read, of whichever function has that name. [init] */
void *bind_find_in_libc(const char *name);

#endif
