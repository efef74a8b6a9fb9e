/* Binds calls of libc's functions to stubs (stubs.h), which jump to libc until libblame-pthreads.so is there, and then to
 * its functions. So the calls that the loader binds at the start reach them as well. Function pointers stay libc's.
 *
 * Functions that create threads are diverted first, and all others only when the program creates one: with one thread,
 * libc acquires a mutex without an atomic operation, and nobody waits. */
#ifndef BLAME_LAYERS_LOADER_BINDING_H
#define BLAME_LAYERS_LOADER_BINDING_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

#include "layers/loader/elf_view.h"

/* Looks up the functions in libc or, before glibc 2.34, libpthread, which have some of the same names: a stub jumps to the
 * function of the library that was added first. [init] */
void binding_add(const struct elf_view *library);

/* Calls `on_first` when a thread is created, before that, once. [init] */
void binding_await_first_thread(void (*on_first)(void));

/* Ends that, if no thread has been created. [init] */
void binding_leave_first_thread(void);

/* Returns the function's stub, or the function's own address if it has none. Older versions of a function that behave
 * differently (pthread_cond_wait) have none. [init] */
uintptr_t binding_of(uintptr_t function);

/* Lets the stubs of the functions that create threads or restrict the process jump to the layer's functions. [init] */
void binding_divert_first(const struct elf_view *layer);

/* Lets all stubs jump to the functions of that layer. [any] */
void binding_divert_all(void);

#endif
