#include "command/cli/patient_stderr.h"

#include <stdio.h>

#include "base/log.h"

static ssize_t write_patiently(void *unused, const char *bytes, size_t count)
{
    (void)unused;
    log_write(bytes, count);
    return (ssize_t)count;
}

void patient_stderr(void)
{
    FILE *stream = fopencookie(NULL, "w", (cookie_io_functions_t){.write = write_patiently});
    if (!stream)
        return; /* Without memory, later messages could not be printed either. */
    setvbuf(stream, NULL, _IOLBF, BUFSIZ);
    log_begin();
    stderr = stream;
}
