/* Leak checks that AddressSanitizer and LeakSanitizer make at the end of a program. */
#ifndef BLAME_BASE_LEAKS_H
#define BLAME_BASE_LEAKS_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Returns true if the user has turned the check off by an environment variable. [init] */
static inline bool leaks_are_off(void)
{
    static const char *const variables[] = {"ASAN_OPTIONS", "LSAN_OPTIONS"};
    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
        const char *text = getenv(variables[i]);
        if (text && strstr(text, "detect_leaks=0"))
            return true;
    }
    return false;
}

#endif
