#include "loader/environment.h"

#include "loader/kernel.h"
#include "loader/text.h"

/* Neither empty nor "false", in whatever case. */
static bool is_on(const char *value)
{
    return value && *value && !(value[0] == '0' && !value[1]) && (value[0] | 0x20) != 'f';
}

static void take(struct environment *environment, const char *entry)
{
    const char *value = text_after(entry, "BLAME_LIBOMP=");
    for (size_t i = 0; value && i < sizeof(environment->libomp); i++)
        if (!(environment->libomp[i] = value[i]))
            break;
    environment->moves_all |= text_equal(entry, "BLAME_RUNTIME=libomp");
    environment->cancels |= is_on(text_after(entry, "OMP_CANCELLATION="));
}

void environment_read(struct environment *environment)
{
    static char entry[sizeof(environment->libomp) + sizeof("BLAME_LIBOMP=")]; /* one thread has the loader's lock; a longer entry is cut */
    char buffer[1024];
    size_t length = 0;
    int fd = kernel_open("/proc/self/environ");
    long got = 0;
    environment->unread = fd < 0;
    while (fd >= 0 && (got = kernel_read(fd, buffer, sizeof(buffer))) > 0)
        for (long i = 0; i < got; i++) {
            if (length < sizeof(entry) - 1)
                entry[length++] = buffer[i];
            if (buffer[i])
                continue;
            entry[length] = '\0';
            take(environment, entry);
            length = 0;
        }
    environment->libomp[sizeof(environment->libomp) - 1] = '\0';
    if (fd >= 0)
        kernel_close(fd);
}
