/* The OMPT callbacks: they keep the thread's state line, and do rare slow work for samples. */
#ifndef BLAME_OMPT_TOOL_CALLBACKS_H
#define BLAME_OMPT_TOOL_CALLBACKS_H

#include <stdbool.h>
#include <stddef.h>

/* Registers all callbacks that the runtime offers. locks, text and the result are those of
 * capabilities_register(). [init] */
bool callbacks_register(bool locks, char *text, size_t bytes);

#endif
