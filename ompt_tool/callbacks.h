/* The OMPT callbacks: they keep the thread's state line, and do rare slow work for samples. */
#ifndef BLAME_OMPT_TOOL_CALLBACKS_H
#define BLAME_OMPT_TOOL_CALLBACKS_H

/* Registers all callbacks that the runtime offers. Returns the number of those it refused. [init] */
int callbacks_register(void);

#endif
