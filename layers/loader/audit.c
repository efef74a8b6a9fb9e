/* libblame-loader.so: the library that `blame run` adds to the program's dynamic loader (LD_AUDIT, see
 * rtld-audit(7)).
 *
 * An object that needs GCC's OpenMP runtime, libgomp, gets libblame-gomp-run.so instead, which needs that same
 * libgomp and reports its events. All objects get the same one, so that the functions that an object calls
 * belong to one copy of libgomp. With --runtime libomp, such an object gets LLVM's runtime instead, if that
 * has everything that the object uses. Both work at the start of the program and for dlopen(), and also for
 * renamed copies of libgomp in Python wheels (libgomp-a34b3233.so.1.0.0). If the program itself needs a
 * runtime, the runtime is started before main. A program without OpenMP gets the tool itself, libblame.so.
 * The library does not use a C library, because the loader would have to load a second copy of it.
 *
 * The functions below run inside the loader, under its lock. They call no functions of the program's
 * libraries, except __kmpc_global_thread_num and omp_get_num_places, or dlmopen and the tool, before main. */
#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>

#include "base/atomics.h"
#include "base/launched.h"
#include "base/pthreads_layer.h"
#include "base/same_file.h"
#include "layers/loader/binding.h"
#include "layers/loader/closure.h"
#include "layers/loader/elf_view.h"
#include "layers/loader/got.h"
#include "layers/loader/kernel.h"
#include "layers/loader/load.h"
#include "layers/loader/search_path.h"
#include "layers/loader/static_tls.h"
#include "layers/loader/symbind.h"
#include "layers/loader/text.h"

/* ---- the program's environment ---- */

#define PATH_BYTES 4096

struct environment {
    /* value of BLAME_GOMP: path of the library that reports libgomp's events; empty: none */
    char gomp[PATH_BYTES];
    char libomp[PATH_BYTES];  /* value of BLAME_LIBOMP: path of the runtime for GCC's programs; empty: none */
    char tool[PATH_BYTES];    /* value of BLAME_TOOL: path of libblame.so for programs without OpenMP; empty: none */
    char posix[PATH_BYTES];   /* value of BLAME_PTHREADS: path of libblame-pthreads.so; empty: none */
    char folders[PATH_BYTES]; /* value of LD_LIBRARY_PATH */
    bool binds_now;           /* true if `blame run` has the loader bind all calls at the start (glibc before 2.35) */
    bool unread;              /* true if /proc/self/environ cannot be read */
};

/* Copies the text. If there is no room for it, copies its beginning. */
static void loader_copy_text(char to[PATH_BYTES], const char *text)
{
    size_t i = 0;
    for (; text[i] && i < PATH_BYTES - 1; i++)
        to[i] = text[i];
    to[i] = '\0';
}

static void loader_take_variable(struct environment *environment, const char *entry)
{
    const char *value;
    if ((value = text_after(entry, "BLAME_GOMP=")))
        loader_copy_text(environment->gomp, value);
    if ((value = text_after(entry, "BLAME_LIBOMP=")))
        loader_copy_text(environment->libomp, value);
    if ((value = text_after(entry, "BLAME_TOOL=")))
        loader_copy_text(environment->tool, value);
    if ((value = text_after(entry, "BLAME_PTHREADS=")))
        loader_copy_text(environment->posix, value);
    environment->binds_now |= text_equal(entry, BIND_NOW "=" BIND_NOW_OURS);
    if ((value = text_after(entry, "LD_LIBRARY_PATH=")))
        loader_copy_text(environment->folders, value);
}

/* Fills in an environment that is all zero. It reads /proc/self/environ, because there is no getenv() without
 * a C library. */
static void loader_read_environment(struct environment *environment)
{
    /* longer entries are truncated; static is safe, because the loader's lock lets in only one thread */
    static char entry[PATH_BYTES + sizeof("LD_LIBRARY_PATH=")];
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
            loader_take_variable(environment, entry);
            length = 0;
        }
    if (fd >= 0)
        kernel_close(fd);
}

/* ---- calls for which libomp prints a deprecation warning ---- */

/* Sets *found if the name is one of these calls. Returns true, so that elf_view_unmet() visits all names. */
static bool loader_note_deprecated(const void *found, const char *name)
{
    static const char *const names[] = {"omp_set_nested", "omp_set_nested_", "omp_set_nested_8_", "omp_get_nested",
                                        "omp_get_nested_"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (text_equal(names[i], name))
            **(bool *const *)found = true;
    return true;
}

static bool loader_calls_deprecated(const struct elf_view *object)
{
    bool found = false;
    struct elf_lack none;
    elf_view_unmet(object, loader_note_deprecated, &(bool *){&found}, &none);
    return found;
}

/* ---- files of loaded libraries, mapped for libblame.so (base/launched.h) ---- */

/* Maximum size of a file that is mapped. At most LAUNCHED_IMAGES files are mapped at the same time. */
#define IMAGE_MOST_BYTES (16l << 20)

static struct launched_image images[LAUNCHED_IMAGES];
/* the entry to use next is next_image modulo LAUNCHED_IMAGES; it holds the oldest file */
static unsigned next_image;

/* Unmaps the entry's file and frees the entry. Returns false if libblame.so is using the file. */
static bool empty_launched_image(struct launched_image *image)
{
    uint32_t state = LAUNCHED_THERE;
    bool taken = compare_exchange(&image->state, &state, LAUNCHED_FREE);
    if (taken)
        kernel_unmap(image->data, image->bytes);
    return taken || state == LAUNCHED_FREE;
}

/* Maps the file of a library that has just been loaded, unless the file is too large or the process's memory
 * is limited. */
static void images_add(const struct link_map *map)
{
    struct launched_image *image = &images[next_image++ % LAUNCHED_IMAGES];
    int fd = *map->l_name && kernel_memory_limit() == UINT64_MAX && empty_launched_image(image)
                 ? kernel_open(map->l_name)
                 : -1;
    if (fd < 0)
        return;
    size_t bytes = 0;
    const void *data = kernel_file_bytes(fd) <= IMAGE_MOST_BYTES ? kernel_map_file(fd, &bytes) : NULL;
    kernel_close(fd);
    if (!data)
        return;
    store_relaxed(&image->base, map->l_addr);
    image->data = data;
    image->bytes = bytes;
    store_release(&image->state, LAUNCHED_THERE);
}

/* Unmaps the file of a library that is being unloaded, unless libblame.so is using the mapping or has taken
 * it over. */
static void images_remove(const struct link_map *map)
{
    for (unsigned i = 0; i < LAUNCHED_IMAGES; i++)
        if (images[i].base == map->l_addr)
            empty_launched_image(&images[i]);
}

/* ---- choosing the program's runtime ---- */

/* When libomp starts, it creates a file of one page in /dev/shm. It crashes if RLIMIT_FSIZE is smaller than
 * the file or /dev/shm is full; libgomp does not. The room required is larger, because other processes may
 * start at the same time. */
#define LIBOMP_FILE_BYTES 1024
#define LIBOMP_ROOM_BYTES (1 << 20)

/* maximum number of new objects that are checked for missing names at one time; further ones are not checked */
#define FRESH_OBJECTS 1024

/* maximum time in ms until stderr accepts a line; if it takes longer, nothing more is written */
#define PATIENCE_MS 1000

/* The libraries that dlmopen() loads have no object that needs them. For these, glibc before 2.35 passes the address of a
 * field in a link map at address 0 as the cookie. */
#define FIRST_PAGES_BYTES 65536

#define GCC_NAME "libgomp.so.1"
/* the name by which libblame-gomp-run.so needs the program's libgomp */
#define REAL_NAME "libblame-real-gomp.so.1"

#define EXPORT __attribute__((visibility("default")))

static struct {
    struct launched launched;
    struct launched *tool;           /* blame_launched of libblame.so; NULL: not loaded */
    const struct link_map *tool_map; /* libblame.so; NULL: not loaded */
    const struct link_map *program;
    const struct link_map *llvm; /* the LLVM runtime in the process; NULL: none is loaded */
    /* libc and, before glibc 2.34, libpthread; NULL: no call of its functions is bound to a stub */
    const struct link_map *libc, *libpthread;
    const struct link_map *posix; /* libblame-pthreads.so; NULL: not loaded */
    /* true once all libraries with which the program starts are mapped; their code has not run yet */
    bool mapped;
    bool loads_ours;  /* true while we load a library of ours into the program */
    bool measured;    /* true if libblame.so is loaded */
    bool began_early; /* true if the tool began in a library's constructor, before the program's runtime */
    bool started;     /* true once the runtime was started before main, or need not be */
    /* The library that reports libgomp's events, and the libgomp behind it; NULL: not loaded */
    const struct link_map *gomp, *real;
    /* the object for which that library was loaded, and the name by which it asked for libgomp */
    const struct link_map *gomp_needer;
    char gomp_name[PATH_BYTES];
    bool searches_real; /* true while the libgomp behind that library is searched for */
    bool moved;         /* true if the LLVM runtime was loaded as libgomp.so.1 */
    /* the last object for which loader_judge_runtime() was asked, and whether the runtime suits it */
    const struct link_map *judged;
    bool enough;
    bool told_unknown; /* true once loader_tell_of_unknown_functions() has printed a line */
    /* the last object about which print_runtime_lack() printed a line */
    const struct link_map *told;
    /* objects that have not yet been checked for missing names */
    const struct link_map *fresh[FRESH_OBJECTS];
    unsigned fresh_count;
    struct environment given; /* the program's environment */
    struct stat begun;        /* the file that stderr was at the start */
    bool has_stderr;          /* true if stderr was open at the start and has accepted all lines */
    /* number of lines printed; and number of lines printed before the process restarted itself, which are not
     * printed again */
    unsigned lines, lines_before;
} self;

static bool is_llvm_runtime(const char *name)
{
    const char *rest = text_after(name, "libomp");
    rest = rest ? rest : text_after(name, "libiomp5");
    return rest && (*rest == '.' || *rest == '-' || (*rest >= '0' && *rest <= '9'));
}

static bool is_gcc_runtime(const char *name)
{
    const char *rest = text_after(name, "libgomp");
    return rest && (*rest == '.' || *rest == '-') && !text_after(rest, "-plugin");
}

/* Writes a line to stderr, unless stderr is no longer the same file, or nobody reads it. */
static void write_loader_line(const char *const *parts, size_t count)
{
    char line[1024];
    size_t length = 0;
    struct stat now;
    if (self.lines++ < self.lines_before)
        return;
    if (!self.has_stderr || !kernel_file_status(2, &now) || !is_same_file(&now, &self.begun))
        return;
    self.has_stderr = kernel_has_room(2, PATIENCE_MS);
    if (!self.has_stderr)
        return;
    for (size_t i = 0; i < count; i++)
        for (const char *at = parts[i]; *at && length < sizeof(line); at++)
            line[length++] = *at;
    kernel_write(2, line, length);
}

/* Returns the path of the LLVM runtime that is loaded, or that would be. */
static const char *loader_libomp(void)
{
    return self.llvm ? self.llvm->l_name : self.given.libomp;
}

static const char *loader_name_of(const struct link_map *object)
{
    return *object->l_name ? object->l_name : "the program";
}

/* Prints why an object does not get the runtime, and the consequence (`follows`). */
static void print_runtime_reason(const char *runtime, const struct link_map *needer, const char *why,
                                 const char *follows)
{
    const char *parts[] = {"blame: ", runtime, why, ": ", loader_name_of(needer), follows, "\n"};
    write_loader_line(parts, sizeof(parts) / sizeof(parts[0]));
}

/* Prints which names the runtime lacks for an object, and the consequence (`follows`). */
static void print_runtime_lack(const char *runtime, const struct link_map *needer, const struct elf_lack *lack,
                               const char *follows)
{
    char more[] = " and 00 more";
    more[5] = (char)('0' + (lack->count - 1) / 10);
    more[6] = (char)('0' + (lack->count - 1) % 10);
    if (more[5] == '0') /* skip the leading zero */
        for (char *at = &more[5]; *at; at++)
            at[0] = at[1];
    const char *parts[] = {
        "blame: ", runtime, " does not have ", lack->name, lack->count > 1 ? more : "", ": ", loader_name_of(needer),
        follows,   "\n"};
    write_loader_line(parts, sizeof(parts) / sizeof(parts[0]));
    self.told = needer;
}

#define KEEPS    " keeps its own runtime, which is not measured"
#define REPLACED ": " GCC_NAME " has been replaced already"

/* Prints that the environment cannot be read, so that we do not know which runtime to use. */
static void print_environment_unread(const struct link_map *needer)
{
    const char *parts[] = {"blame: /proc/self/environ cannot be read: ", loader_name_of(needer), KEEPS, "\n"};
    write_loader_line(parts, sizeof(parts) / sizeof(parts[0]));
    self.judged = needer;
    self.enough = false;
}

/* Returns true if libomp can replace libgomp for the object. Otherwise prints why not. */
static bool loader_runtime_suits(const struct elf_view *runtime, const struct link_map *needer, const char *library)
{
    struct elf_view wanted;
    struct elf_lack lack;
    elf_view_of_map(&wanted, needer);
    if (elf_view_lacks(runtime, &wanted, library, &lack)) {
        print_runtime_lack(loader_libomp(), needer, &lack, KEEPS);
        return false;
    }
    self.launched.deprecated |= loader_calls_deprecated(&wanted);
    return true;
}

/* Returns true if loader_runtime_suits() holds for the object that needs the library, and for all loaded
 * objects that will share it. */
static bool loader_runtime_suits_all(const struct elf_view *runtime, const struct link_map *needer, const char *library)
{
    if (!loader_runtime_suits(runtime, needer, library))
        return false;
    for (const struct link_map *map = self.program; map; map = map->l_next) {
        struct elf_view view;
        elf_view_of_map(&view, map);
        if (map != needer && elf_view_needs(&view, map, library) && !loader_runtime_suits(runtime, map, library))
            return false;
    }
    return true;
}

/* Maps the file of a runtime that is not loaded yet. Returns NULL after a line if it is not a library. */
static const void *loader_map_runtime(const char *path, struct elf_view *runtime, size_t *bytes,
                                      const struct link_map *needer)
{
    int fd = kernel_open(path);
    const void *file = fd >= 0 ? kernel_map_file(fd, bytes) : NULL;
    if (fd >= 0)
        kernel_close(fd);
    if (file && elf_view_of_file(runtime, file, *bytes))
        return file;
    print_runtime_reason(path, needer, " is not a readable library", KEEPS);
    if (file)
        kernel_unmap(file, *bytes);
    return NULL;
}

/* Returns true if libomp can be started, and suits all objects that need `library`. Otherwise prints why not. */
static bool loader_judge_libomp(const struct link_map *needer, const char *library)
{
    struct elf_view runtime;
    size_t bytes = 0;
    const void *file = NULL;
    if (kernel_file_limit() < LIBOMP_FILE_BYTES) {
        print_runtime_reason(loader_libomp(), needer, " cannot start with so low a limit on file sizes (ulimit -f)",
                             KEEPS);
        return false;
    }
    if (!self.llvm && kernel_room("/dev/shm") < LIBOMP_ROOM_BYTES) {
        print_runtime_reason(loader_libomp(), needer, " may find no room in /dev/shm", KEEPS);
        return false;
    }
    if (self.llvm)
        elf_view_of_map(&runtime, self.llvm);
    else if (!(file = loader_map_runtime(self.given.libomp, &runtime, &bytes, needer)))
        return false;
    bool enough = loader_runtime_suits_all(&runtime, needer, library);
    if (file)
        kernel_unmap(file, bytes);
    return enough;
}

/* Returns true if the library that reports libgomp's events has all versions that the object needs, and the
 * libgomp behind it, if it is loaded, everything. Otherwise prints why not. */
static bool loader_judge_gomp(const struct link_map *needer, const char *library)
{
    struct elf_view runtime, wanted;
    struct elf_lack lack;
    size_t bytes = 0;
    const void *file = NULL;
    elf_view_of_map(&wanted, needer);
    if (self.gomp)
        elf_view_of_map(&runtime, self.gomp);
    else if (!(file = loader_map_runtime(self.given.gomp, &runtime, &bytes, needer)))
        return false;
    const char *lacking = elf_view_lacks_version(&runtime, &wanted, library, &lack) ? self.given.gomp : NULL;
    if (file)
        kernel_unmap(file, bytes);
    if (!lacking && self.real) {
        elf_view_of_map(&runtime, self.real);
        lacking = elf_view_lacks(&runtime, &wanted, library, &lack) ? self.real->l_name : NULL;
    }
    if (lacking)
        print_runtime_lack(lacking, needer, &lack, KEEPS);
    return !lacking;
}

/* Returns true if the runtime that replaces libgomp suits the object. The result is kept, because the loader
 * asks once for each folder that it searches. */
static bool loader_runtime_is_enough(const struct link_map *needer, const char *library)
{
    if (self.judged != needer)
        self.enough = *self.given.gomp ? loader_judge_gomp(needer, library) : loader_judge_libomp(needer, library);
    self.judged = needer;
    return self.enough;
}

/* Returns the name or path by which the loader finds the libgomp behind the library that reports its events:
 * the one that the object for which that library was loaded would have. */
static char *loader_search_real(void)
{
    static char path[PATH_BYTES];
    self.searches_real = true;
    if (text_file_name(self.gomp_name) == self.gomp_name &&
        search_path_find(self.gomp_needer, self.given.folders, self.gomp_name, path, sizeof(path)))
        return path;
    return self.gomp_name;
}

EXPORT unsigned la_version(unsigned version)
{
    self.launched.image_start_ns = kernel_now_ns();
    self.has_stderr = kernel_file_status(2, &self.begun);
    /* the address of any symbol of this library that no other library can replace */
    self.launched.loader = (uintptr_t)&is_llvm_runtime;
    self.launched.images = images;
    loader_read_environment(&self.given);
    if (!*self.given.posix || !symbind_is_safe()) {
        self.given.posix[0] = '\0';
        symbind_hide();
    }
    return version < LAV_CURRENT ? version : LAV_CURRENT;
}

/* Tells the tool, which may be there already, how objects get a runtime. */
static void loader_tell_tool(void)
{
    if (!self.tool)
        return;
    self.tool->moved = self.launched.moved;
    self.tool->reported = self.launched.reported;
    self.tool->deprecated = self.launched.deprecated;
    store_release(&self.tool->opened, self.launched.opened);
}

/* The loader calls this when it searches for a library: first with the name (LA_SER_ORIG), then with a path
 * in each folder, until it finds the library. The loader must know the runtime by every name for which it
 * searches. For an object that it then loads, it notes the name that was returned at the first call. For an
 * object that is already loaded, it notes only a path. So we return the runtime's path at the first call if
 * the runtime is not loaded, and at a later one if it is. */
EXPORT char *la_objsearch(const char *name, uintptr_t *cookie, unsigned flag)
{
    if ((uintptr_t)cookie < FIRST_PAGES_BYTES)
        return (char *)name;
    const struct link_map *needer = (const struct link_map *)*cookie;
    const char *file = text_file_name(name);
    if (!needer) /* in another namespace (dlmopen), which keeps its own copies of all libraries */
        return (char *)(text_equal(name, REAL_NAME) ? GCC_NAME : name);
    if (self.gomp && needer == self.gomp && flag == LA_SER_ORIG && text_equal(name, REAL_NAME))
        return loader_search_real();
    bool gcc = is_gcc_runtime(file) && needer != self.gomp, llvm = is_llvm_runtime(file);
    const struct link_map *there = *self.given.gomp ? self.gomp : self.llvm;
    bool now = flag == LA_SER_ORIG ? !there || file != name : there != NULL;
    if (!now || !(gcc || (self.llvm && llvm && !*self.given.gomp)))
        return (char *)name;
    const char *runtime = there ? there->l_name : *self.given.gomp ? self.given.gomp : self.given.libomp;
    if (self.given.unread && !*runtime && self.judged != needer)
        print_environment_unread(needer);
    if (!*runtime || text_equal(runtime, name) || !loader_runtime_is_enough(needer, file))
        return (char *)name;
    if (*self.given.gomp && !there) {
        self.gomp_needer = needer;
        loader_copy_text(self.gomp_name, name);
    }
    self.moved |= !*self.given.gomp && text_equal(file, GCC_NAME);
    self.launched.moved |= !*self.given.gomp;
    self.launched.reported |= *self.given.gomp != '\0';
    loader_tell_tool();
    return (char *)runtime;
}

/* Prints which names are missing for an object that was loaded after the runtime. By then the loader knows
 * libgomp's name, so it does not call la_objsearch(). */
static void loader_tell_of_late_object(const struct elf_view *needer, const struct link_map *map)
{
    struct elf_view runtime;
    struct elf_lack lack;
    elf_view_of_map(&runtime, self.llvm);
    if (!elf_view_needs(needer, map, GCC_NAME))
        return;
    if (elf_view_lacks(&runtime, needer, GCC_NAME, &lack)) {
        print_runtime_lack(loader_libomp(), map, &lack, " may not load" REPLACED);
        return;
    }
    self.launched.deprecated |= loader_calls_deprecated(needer);
}

/* Makes sure that glibc will find room for the thread-local storage of an object with which the process
 * starts. */
static void loader_make_tls_room(const struct elf_view *view, const struct link_map *map)
{
    struct elf_view program;
    self.lines_before += static_tls_begin(view);
    elf_view_of_map(&program, self.program);
    if (!static_tls_fits(map, &program)) {
        const char *parts[] = {"blame: ", map->l_name,
                               ": its thread-local storage does not fit beside an audit library of the loader: a "
                               "program that uses libomp is measured from its first use of OpenMP on, and a program "
                               "built by GCC is not measured\n"};
        write_loader_line(parts, sizeof(parts) / sizeof(parts[0]));
        static_tls_start_without("LD_AUDIT=");
    }
    const char *tunable = static_tls_add(map, self.lines);
    const char *parts[] = {"blame: ", map->l_name,
                           ": its thread-local storage may not fit beside an audit library of the loader, and the "
                           "program cannot be started again with more room: set GLIBC_TUNABLES=",
                           tunable, "\n"};
    if (tunable)
        write_loader_line(parts, sizeof(parts) / sizeof(parts[0]));
}

static bool loader_is_ours(const char *file)
{
    return text_after(file, "libblame-") || text_equal(file, "libblame.so");
}

/* Returns true if the object's calls of libc are bound: unless it is ours, or an OpenMP runtime, whose own locks its
 * threads' states explain. */
static bool loader_shows_bindings(const char *file)
{
    return !is_llvm_runtime(file) && !is_gcc_runtime(file) && !loader_is_ours(file);
}

static bool loader_load(const char *path)
{
    self.loads_ours = true;
    bool loaded = load_object(self.program, path) != NULL;
    self.loads_ours = false;
    return loaded;
}

/* Loads libblame-pthreads.so, unless the program has it already, and lets stubs jump there. Returns the function by which
 * the tool registers with it, or 0. */
static uintptr_t loader_load_posix(void)
{
    struct elf_view view;
    if (!*self.given.posix || !self.libc || !(self.posix || loader_load(self.given.posix)) || !self.posix)
        return 0;
    for (const struct link_map *map = self.program; map; map = map->l_next)
        if (map != self.libc && map != self.libpthread && loader_shows_bindings(text_file_name(map->l_name)))
            got_bind(map, self.given.binds_now);
    elf_view_of_map(&view, self.posix);
    binding_divert_first(&view);
    return elf_view_function(&view, PTHREADS_LAYER_ATTACH);
}

static void loader_note_tool(const struct elf_view *view, const struct link_map *map)
{
    const ElfW(Sym) *symbol = elf_view_find(view, "blame_launched");
    self.measured = symbol && symbol->st_size == sizeof(self.launched);
    self.launched.before_main = !self.started;
    self.launched.load_layer = loader_load_posix;
    self.launched.divert = binding_divert_all;
    if (self.measured) {
        self.tool_map = map;
        self.tool = (struct launched *)(view->base + symbol->st_value);
        *self.tool = self.launched;
    }
}

/* Returns which bindings of the object the loader must show to la_symbind64(): those to libc's functions. */
static unsigned loader_choose_bindings(const struct link_map *map, const struct elf_view *view, const char *file)
{
    if (text_after(file, "libtsan.so."))
        self.given.posix[0] = '\0'; /* what runs in a thread before ThreadSanitizer does ends the program */
    if (text_equal(file, "libblame-pthreads.so"))
        self.posix = map;
    if (!*self.given.posix || !loader_shows_bindings(file))
        return 0;
    const struct link_map **library = text_equal(file, "libc.so.6")         ? &self.libc
                                      : text_equal(file, "libpthread.so.0") ? &self.libpthread
                                                                            : NULL;
    if (!library || *library)
        return LA_FLG_BINDFROM;
    *library = map;
    binding_add(view);
    return LA_FLG_BINDTO;
}

/* Starts the process again, with calls that are bound when they are first made, if an object of its start calls a
 * function that nobody has: bound at the start, that would end the process. */
static void loader_avoid_unbound(void)
{
    bool replaced = self.gomp || self.moved;
    if (self.given.binds_now && !self.mapped && closure_is_whole(self.program, replaced ? is_gcc_runtime : NULL) &&
        closure_is_unbound(self.program))
        static_tls_start_without(BIND_NOW "=");
}

EXPORT unsigned la_objopen(struct link_map *map, Lmid_t namespace, uintptr_t *cookie)
{
    struct elf_view view;
    const char *file = text_file_name(map->l_name);
    self.launched.opened++;
    loader_tell_tool();
    /* The cookie already has a useful value, the address of the link map. Objects of other namespaces get none. */
    if (namespace != LM_ID_BASE) {
        *cookie = 0;
        return 0;
    }
    if (self.measured && !self.loads_ours)
        images_add(map);
    if (!self.program)
        self.program = map;
    if (self.fresh_count < FRESH_OBJECTS)
        self.fresh[self.fresh_count++] = map;
    if (self.searches_real)
        self.real = map;
    self.searches_real = false;
    if (!self.gomp && *self.given.gomp && text_equal(map->l_name, self.given.gomp))
        self.gomp = map;
    if (!self.llvm && (is_llvm_runtime(file) || (*self.given.libomp && text_equal(map->l_name, self.given.libomp))))
        self.llvm = map;
    elf_view_of_map(&view, map);
    if (!self.mapped && map != self.program)
        loader_make_tls_room(&view, map);
    if (self.moved && self.llvm && map != self.llvm)
        loader_tell_of_late_object(&view, map);
    if (text_equal(file, "libblame.so"))
        loader_note_tool(&view, map);
    loader_avoid_unbound();
    return loader_choose_bindings(map, &view, file);
}

/* The loader calls this when it binds an object's call to a function of libc, and for dlsym(). */
EXPORT uintptr_t la_symbind64(ElfW(Sym) * symbol, unsigned number, uintptr_t *from, uintptr_t *to, unsigned *flags,
                              const char *name)
{
    (void)number, (void)name;
    *flags |= LA_SYMB_NOPLTENTER | LA_SYMB_NOPLTEXIT;
    const struct link_map *library = (const struct link_map *)*to;
    bool is_libc = *self.given.posix && library && (library == self.libc || library == self.libpthread);
    /* the layer looks up the functions that its own stand for */
    return is_libc && *from != (uintptr_t)self.posix ? binding_of(symbol->st_value) : symbol->st_value;
}

EXPORT unsigned la_objclose(uintptr_t *cookie)
{
    const struct link_map *map = (const struct link_map *)*cookie;
    if (!map)
        return 0;
    images_remove(map);
    if (map == self.llvm)
        self.llvm = NULL;
    if (map == self.gomp)
        self.gomp = NULL;
    if (map == self.real)
        self.real = NULL;
    if (map == self.judged)
        self.judged = NULL;
    if (map == self.told)
        self.told = NULL;
    for (unsigned i = 0; i < self.fresh_count; i++)
        if (self.fresh[i] == map)
            self.fresh[i--] = self.fresh[--self.fresh_count];
    return 0;
}

/* Returns true unless libgomp has a function of that name that came after the library that reports its events. */
static bool loader_knows_function(const void *gomp, const char *name)
{
    struct elf_view real;
    static const char *const passed[] = {
#define PASS(name, version) #name,
#include "layers/gomp/pass_list.h"
#undef PASS
    };
    if (!text_after(name, "GOMP_") || elf_view_find(gomp, name))
        return true;
    for (size_t i = 0; i < sizeof(passed) / sizeof(passed[0]); i++)
        if (text_equal(passed[i], name))
            return true;
    elf_view_of_map(&real, self.real);
    return !elf_view_find(&real, name);
}

/* Prints, once, which functions of libgomp's are called whose events are not reported. They are libgomp's own. */
static void loader_tell_of_unknown_functions(void)
{
    struct elf_view gomp, view;
    struct elf_lack lack;
    elf_view_of_map(&gomp, self.gomp);
    for (unsigned i = 0; i < self.fresh_count && !self.told_unknown; i++) {
        const struct link_map *map = self.fresh[i];
        elf_view_of_map(&view, map);
        if (!elf_view_needs(&view, map, GCC_NAME) && !elf_view_needs(&view, map, text_file_name(self.gomp_name)))
            continue;
        self.told_unknown = elf_view_unmet(&view, loader_knows_function, &gomp, &lack);
        if (self.told_unknown)
            print_runtime_lack(self.given.gomp, map, &lack,
                               " runs nevertheless, and what that function does is not measured");
    }
}

/* Prints which runtime functions no object defines, for all objects loaded since the last call. Without this,
 * the program would end in the middle of its run, because the loader binds a function only when it is first
 * called. */
static void loader_tell_of_unmet_symbols(void)
{
    for (unsigned i = 0; i < self.fresh_count; i++) {
        struct elf_view view;
        struct elf_lack lack;
        elf_view_of_map(&view, self.fresh[i]);
        if (self.fresh[i] != self.told && elf_view_unmet(&view, closure_has_symbol, self.program, &lack))
            print_runtime_lack(loader_libomp(), self.fresh[i], &lack,
                               " runs nevertheless, and ends when it calls that function");
    }
}

/* Returns the LLVM runtime's function that returns a thread's number, and the runtime's names; 0 if there is none. The
 * runtime may also be linked into the program itself. */
static uintptr_t loader_find_runtime(struct elf_view *view)
{
    const struct link_map *maps[] = {self.llvm, self.program};
    for (size_t i = 0; i < 2; i++) {
        if (!maps[i])
            continue;
        elf_view_of_map(view, maps[i]);
        uintptr_t start = elf_view_function(view, "__kmpc_global_thread_num");
        if (start && elf_view_function(view, "__kmpc_fork_call"))
            return start;
    }
    return 0;
}

/* Starts the runtime if there is one. Any call to the runtime starts it, and the runtime starts the tool. We
 * call __kmpc_global_thread_num, which creates no threads and does not bind the initial thread to its OMP place.
 * libgomp reads the OMP places when it starts; if libomp replaces libgomp, we call omp_get_num_places so that
 * libomp does, too. */
static bool loader_start_runtime(void)
{
    struct elf_view view;
    uintptr_t start = loader_find_runtime(&view);
    if (!start)
        return false;
    self.started = false; /* until the runtime has loaded the tool */
    ((int (*)(void *))start)(NULL);
    self.started = true;
    uintptr_t places = self.launched.moved ? elf_view_function(&view, "omp_get_num_places") : 0;
    if (places)
        ((int (*)(void))places)();
    return true;
}

/* Returns true if the program starts with an OpenMP runtime that is not LLVM's, whether the tool measures it or
 * not. */
static bool loader_has_gcc_runtime(void)
{
    for (const struct link_map *map = self.program; map; map = map->l_next)
        if (is_gcc_runtime(text_file_name(map->l_name)))
            return true;
    return self.gomp != NULL;
}

/* Returns true if the program links the library with which programs forbid themselves system calls. Such a program may
 * forbid those that the tool makes, and be killed for them. */
static bool loader_finds_sandbox(void)
{
    for (const struct link_map *map = self.program; map; map = map->l_next)
        if (text_after(text_file_name(map->l_name), "libseccomp.so"))
            return true;
    return false;
}

static void loader_call_tool(const char *name)
{
    struct elf_view view;
    elf_view_of_map(&view, self.tool_map);
    void (*function)(void) = (void (*)(void))elf_view_function(&view, name);
    if (function)
        function();
}

/* Loads the tool into a program without OpenMP, or whose runtime has not started yet, and lets it begin. */
static void loader_start_tool(bool has_runtime)
{
    self.started = !has_runtime;
    if (self.measured || !*self.given.tool || (!has_runtime && loader_has_gcc_runtime()) || loader_finds_sandbox())
        return;
    if (loader_load(self.given.tool) && self.measured)
        loader_call_tool("blame_begin_without_openmp");
}

/* A constructor of a library creates the process's first thread (OpenBLAS). The runtime's own constructor may not have
 * run yet, so the runtime is started later, and the tool goes on with its events. */
static void loader_on_first_thread(void)
{
    struct elf_view view;
    bool has_runtime = self.gomp || loader_find_runtime(&view);
    loader_start_tool(has_runtime);
    self.began_early = has_runtime && self.measured;
}

EXPORT void la_activity(uintptr_t *cookie, unsigned flag)
{
    elf_view_forget_pages();
    if (!self.mapped && flag == LA_ACT_CONSISTENT && self.program == (const struct link_map *)*cookie) {
        self.mapped = true;
        binding_await_first_thread(loader_on_first_thread);
    }
    if (flag != LA_ACT_CONSISTENT || !(self.llvm || self.gomp))
        return;
    if (self.gomp && self.real)
        loader_tell_of_unknown_functions();
    if (self.llvm)
        loader_tell_of_unmet_symbols();
    self.fresh_count = 0;
}

/* The loader calls this before main, after the constructors of all libraries. */
EXPORT void la_preinit(uintptr_t *cookie)
{
    (void)cookie;
    bool was_started = self.started;
    binding_leave_first_thread();
    self.started = true;
    if (!loader_start_runtime() && !was_started)
        loader_start_tool(false);
    if (self.began_early)
        loader_call_tool("blame_runtime_has_started");
}
