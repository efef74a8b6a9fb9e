#include "ompt_tool/images.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/image_path.h"
#include "base/module_flags.h"
#include "base/os.h"
#include "unwind/modules.h"

#define MOST_BYTES  (64u << 20) /* of all files together */
#define FIRST_BYTES 4096u       /* of a file: headers, and most often the build id */

/* True if the path leads to another file than the one that was mapped, or to none. */
static bool is_gone(const struct loadmap_module *module)
{
    char now[FIRST_BYTES], then[FIRST_BYTES];
    size_t bytes = module->image_bytes < FIRST_BYTES ? module->image_bytes : FIRST_BYTES;
    int fd = strncmp(module->path, "/proc/", strlen("/proc/")) == 0 ? -1 : os_open_read(module->path);
    if (fd < 0)
        return true;
    bool same = os_file_bytes(fd) == module->image_bytes && os_read(fd, now, bytes) == (ssize_t)bytes &&
                os_copy_memory(then, (uintptr_t)module->image, bytes) && memcmp(now, then, bytes) == 0;
    os_close(fd);
    return !same;
}

/* The mapping may reach beyond the end of a file that was cut: then the system call fails, and the process lives. */
static bool write_image(const char *path, const struct loadmap_module *module)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return false;
    size_t done = 0;
    for (ssize_t put = 1; put > 0 && done < module->image_bytes; done += put > 0 ? (size_t)put : 0)
        put = os_write(fd, module->image + done, module->image_bytes - done);
    os_close(fd);
    if (done < module->image_bytes)
        unlink(path);
    return done == module->image_bytes;
}

void images_keep(const char *measurement)
{
    char path[PATH_MAX];
    size_t room = MOST_BYTES;
    for (uint32_t id = 1; id <= loadmap_module_count(); id++) {
        const struct loadmap_module *module = loadmap_module(id);
        bool wanted = module->image && module->image_bytes <= room && !(module->flags & PROFILE_MODULE_TOOL);
        if (wanted && is_gone(module) && image_path(path, sizeof(path), measurement, id) && write_image(path, module))
            room -= module->image_bytes;
    }
}
