/* libblame-loader.so: the library that `blame run` gives to the program's dynamic loader (LD_AUDIT, see
 * rtld-audit(7)).
 *
 * An object that asks for GCC's OpenMP runtime gets LLVM's, if that has all it needs: at the start or by
 * dlopen, under GCC's own name or a wheel's (libgomp-a34b3233.so.1.0.0). A program that itself needs a
 * runtime has it started before main. A program without OpenMP pays only for loading this library. The
 * library has no C library, of which the loader would have to load a second copy.
 *
 * The functions below run inside the loader, under its lock. They call no function of the program's
 * libraries, except __kmpc_global_thread_num before main. */
#include <link.h>
#include <stdbool.h>

#include "base/atomics.h"
#include "base/launched.h"
#include "base/same_file.h"
#include "layers/loader/elf_view.h"
#include "layers/loader/kernel.h"
#include "layers/loader/static_tls.h"
#include "layers/loader/text.h"

/* ---- the environment that the program got ---- */

struct environment {
    char libomp[4096]; /* BLAME_LIBOMP: the runtime for GCC programs; empty: none */
    bool unread;       /* there is no /proc to read it from */
    bool moves_all;    /* BLAME_RUNTIME=libomp */
    bool cancels;      /* OMP_CANCELLATION is set, and not to false */
};

/* Returns true for a value that is neither empty nor "0" nor begins with f or F (false). */
static bool is_on(const char *value)
{
    return value && *value && !(value[0] == '0' && !value[1]) && (value[0] | 0x20) != 'f';
}

static void take_variable(struct environment *environment, const char *entry)
{
    const char *value = text_after(entry, "BLAME_LIBOMP=");
    for (size_t i = 0; value && i < sizeof(environment->libomp); i++)
        if (!(environment->libomp[i] = value[i]))
            break;
    environment->moves_all |= text_equal(entry, "BLAME_RUNTIME=libomp");
    environment->cancels |= is_on(text_after(entry, "OMP_CANCELLATION="));
}

/* Fills an all-zero environment from /proc/self/environ: there is no C library here. */
static void read_environment(struct environment *environment)
{
    static char entry[sizeof(environment->libomp) +
                      sizeof("BLAME_LIBOMP=")]; /* one thread has the loader's lock; a longer entry is cut */
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
            take_variable(environment, entry);
            length = 0;
        }
    environment->libomp[sizeof(environment->libomp) - 1] = '\0';
    if (fd >= 0)
        kernel_close(fd);
}

/* ---- how libomp differs from libgomp for a GCC program, as far as the program's imported names show it ---- */

enum {
    TRAIT_TEAMS = 1,      /* teams on the host */
    TRAIT_SHARES = 2,     /* a construct starts with memory for its team, or with task reductions */
    TRAIT_REDUCES = 4,    /* tasks reduce in a construct */
    TRAIT_CANCELS = 8,    /* cancel */
    TRAIT_DEPRECATED = 16 /* calls that libomp warns about */
};

static const struct {
    const char *name;
    unsigned trait;
} trait_names[] = {
    {"GOMP_teams_reg", TRAIT_TEAMS},
    {"GOMP_loop_start", TRAIT_SHARES},
    {"GOMP_loop_ull_start", TRAIT_SHARES},
    {"GOMP_loop_ordered_start", TRAIT_SHARES},
    {"GOMP_loop_ull_ordered_start", TRAIT_SHARES},
    {"GOMP_loop_doacross_start", TRAIT_SHARES},
    {"GOMP_loop_ull_doacross_start", TRAIT_SHARES},
    {"GOMP_sections2_start", TRAIT_SHARES},
    {"GOMP_workshare_task_reduction_unregister", TRAIT_REDUCES},
    {"GOMP_cancel", TRAIT_CANCELS},
    {"omp_set_nested", TRAIT_DEPRECATED},
    {"omp_set_nested_", TRAIT_DEPRECATED},
    {"omp_set_nested_8_", TRAIT_DEPRECATED},
    {"omp_get_nested", TRAIT_DEPRECATED},
    {"omp_get_nested_", TRAIT_DEPRECATED},
};

/* Notes the name's trait; returns true, as if the runtime had every name. */
static bool note_trait(const void *traits, const char *name)
{
    for (size_t i = 0; i < sizeof(trait_names) / sizeof(trait_names[0]); i++)
        if (text_equal(trait_names[i].name, name))
            *(*(unsigned *const *)traits) |= trait_names[i].trait;
    return true;
}

/* Returns the traits of an object. */
static unsigned traits_of(const struct elf_view *object)
{
    unsigned traits = 0;
    struct elf_lack none;
    elf_view_unmet(object, note_trait, &(unsigned *){&traits}, &none);
    return traits;
}

/* Returns how libomp differs, as a text to follow its name; NULL if it does not. cancels: OMP_CANCELLATION is
 * on. */
static const char *traits_differ(unsigned traits, bool cancels)
{
    if (traits & TRAIT_TEAMS)
        return " makes other teams and threads than libgomp (GOMP_teams_reg)";
    if (traits & TRAIT_SHARES && !(traits & TRAIT_REDUCES))
        return " has neither scan nor lastprivate(conditional:)";
    if (traits & TRAIT_CANCELS && cancels)
        return " may hang where a region is cancelled (GOMP_cancel, OMP_CANCELLATION)";
    return NULL;
}

/* ---- files of loaded libraries, mapped for the tool (base/launched.h) ---- */

/* largest file to map; at most LAUNCHED_IMAGES files are mapped at a time */
#define IMAGE_MOST_BYTES (16l << 20)

static struct launched_image images[LAUNCHED_IMAGES];
static unsigned next_image; /* next entry, modulo their number: the oldest file is replaced */

/* Unmaps the entry's file and frees the entry. Returns false if the tool is reading the file. */
static bool empty_image(struct launched_image *image)
{
    uint32_t state = LAUNCHED_THERE;
    bool taken = compare_exchange(&image->state, &state, LAUNCHED_FREE);
    if (taken)
        kernel_unmap(image->data, image->bytes);
    return taken || state == LAUNCHED_FREE;
}

/* Maps the file of a library that has just been loaded, unless it is large or the process's memory is
 * limited. */
static void images_add(const struct link_map *map)
{
    struct launched_image *image = &images[next_image++ % LAUNCHED_IMAGES];
    int fd = *map->l_name && kernel_memory_limit() == UINT64_MAX && empty_image(image) ? kernel_open(map->l_name) : -1;
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

/* Unmaps the file of a library that is being closed, unless the tool keeps it. */
static void images_remove(const struct link_map *map)
{
    for (unsigned i = 0; i < LAUNCHED_IMAGES; i++)
        if (images[i].base == map->l_addr)
            empty_image(&images[i]);
}

/* ---- the program's runtime ---- */

/* libomp makes a file of a page in /dev/shm at its start, and crashes if the limit on files is lower or
 * /dev/shm is full; libgomp does not. Processes that start at the same time need room, too. */
#define LIBOMP_FILE_BYTES 1024
#define LIBOMP_ROOM_BYTES (1 << 20)

#define FRESH_OBJECTS 1024 /* objects to check at once; the rest is not checked */

#define PATIENCE_MS 1000 /* ms to wait for a reader of stderr; after that no more lines are written */

#define GCC_NAME "libgomp.so.1"

#define EXPORT __attribute__((visibility("default")))

static struct {
    struct launched launched;
    const struct link_map *program;
    const struct link_map *llvm; /* the process's runtime */
    /* all libraries that it needs are mapped, and none of their code has run */
    bool mapped;
    bool measured; /* libblame.so is loaded */
    bool moved;    /* GCC's library name stands for it */
    /* the object that last looked for a runtime, and whether the new one suits it */
    const struct link_map *judged;
    bool enough;
    const struct link_map *told;                 /* the object about which a line was printed last */
    const struct link_map *fresh[FRESH_OBJECTS]; /* objects not yet checked for missing names */
    unsigned fresh_count;
    struct environment given; /* all zero: not yet read */
    bool asked;               /* it has been read */
    struct stat begun;        /* stderr, as it was at the start */
    bool has_stderr;          /* stderr was open, and somebody reads it */
    /* lines printed, and lines that the process printed before it was started again */
    unsigned lines, lines_before;
} self;

static bool is_llvm(const char *name)
{
    const char *rest = text_after(name, "libomp");
    rest = rest ? rest : text_after(name, "libiomp5");
    return rest && (*rest == '.' || *rest == '-' || (*rest >= '0' && *rest <= '9'));
}

static bool is_gcc(const char *name)
{
    const char *rest = text_after(name, "libgomp");
    return rest && (*rest == '.' || *rest == '-') && !text_after(rest, "-plugin");
}

/* Writes a line to stderr, unless the program has opened another file with that number or nobody reads it. */
static void write_line(const char *const *parts, size_t count)
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

/* Prints why an object does not get LLVM's runtime, and what follows. */
static void print_reason(const struct link_map *needer, const char *why, const char *follows)
{
    const char *parts[] = {"blame: ", self.llvm ? self.llvm->l_name : self.given.libomp, why,
                           ": ",      *needer->l_name ? needer->l_name : "the program",  follows,
                           "\n"};
    write_line(parts, sizeof(parts) / sizeof(parts[0]));
}

/* Prints which names the runtime lacks, and what follows. */
static void say_lack(const struct link_map *needer, const struct elf_lack *lack, const char *follows)
{
    char more[] = " and 00 more";
    more[5] = (char)('0' + (lack->count - 1) / 10);
    more[6] = (char)('0' + (lack->count - 1) % 10);
    if (more[5] == '0') /* no leading zero */
        for (char *at = &more[5]; *at; at++)
            at[0] = at[1];
    const char *parts[] = {"blame: ",
                           self.llvm ? self.llvm->l_name : self.given.libomp,
                           " does not have ",
                           lack->name,
                           lack->count > 1 ? more : "",
                           ": ",
                           *needer->l_name ? needer->l_name : "the program",
                           follows,
                           "\n"};
    write_line(parts, sizeof(parts) / sizeof(parts[0]));
    self.told = needer;
}

#define KEEPS    " keeps its own runtime, which is not measured"
#define REPLACED ": " GCC_NAME " has been replaced already"

/* Prints that the environment, and thus the runtime to use, is unknown. */
static void say_unread(const struct link_map *needer)
{
    const char *parts[] = {
        "blame: /proc/self/environ cannot be read: ", *needer->l_name ? needer->l_name : "the program", KEEPS, "\n"};
    write_line(parts, sizeof(parts) / sizeof(parts[0]));
    self.judged = needer;
    self.enough = false;
}

/* Returns whether the runtime can replace the one that the object asks for; if not, prints why. */
static bool suits(const struct elf_view *runtime, const struct link_map *needer, const char *library)
{
    struct elf_view wanted;
    struct elf_lack lack;
    elf_view_of_map(&wanted, needer);
    if (elf_view_lacks(runtime, &wanted, library, &lack)) {
        say_lack(needer, &lack, KEEPS);
        return false;
    }
    unsigned traits = traits_of(&wanted);
    const char *differs = self.given.moves_all ? NULL : traits_differ(traits, self.given.cancels);
    self.launched.deprecated |= (traits & TRAIT_DEPRECATED) != 0;
    if (differs)
        print_reason(needer, differs, KEEPS "; blame run --runtime libomp runs it on libomp anyway");
    return !differs;
}

/* As suits(), for the object that searches the library and all loaded objects that will share it. */
static bool suits_all(const struct elf_view *runtime, const struct link_map *needer, const char *library)
{
    if (!suits(runtime, needer, library))
        return false;
    for (const struct link_map *map = self.program; map; map = map->l_next) {
        struct elf_view view;
        elf_view_of_map(&view, map);
        if (map != needer && elf_view_needs(&view, map, library) && !suits(runtime, map, library))
            return false;
    }
    return true;
}

/* Returns whether the runtime suits `needer` and all others that want `library`; if not, prints why. */
static bool judge_runtime(const struct link_map *needer, const char *library)
{
    struct elf_view runtime;
    size_t bytes = 0;
    const void *file = NULL;
    if (kernel_file_limit() < LIBOMP_FILE_BYTES) {
        print_reason(needer, " cannot start with so low a limit on file sizes (ulimit -f)", KEEPS);
        return false;
    }
    if (!self.llvm && kernel_room("/dev/shm") < LIBOMP_ROOM_BYTES) {
        print_reason(needer, " may find no room in /dev/shm", KEEPS);
        return false;
    }
    if (self.llvm) {
        elf_view_of_map(&runtime, self.llvm);
    } else {
        int fd = kernel_open(self.given.libomp);
        file = fd >= 0 ? kernel_map_file(fd, &bytes) : NULL;
        if (fd >= 0)
            kernel_close(fd);
        if (!file || !elf_view_of_file(&runtime, file, bytes)) {
            print_reason(needer, " is not a readable library", KEEPS);
            if (file)
                kernel_unmap(file, bytes);
            return false;
        }
    }
    bool enough = suits_all(&runtime, needer, library);
    if (file)
        kernel_unmap(file, bytes);
    return enough;
}

/* Returns the judgement, which is asked for again for each folder that may have the library. */
static bool runtime_is_enough(const struct link_map *needer, const char *library)
{
    if (self.judged != needer)
        self.enough = judge_runtime(needer, library);
    self.judged = needer;
    return self.enough;
}

EXPORT unsigned la_version(unsigned version)
{
    self.launched.image_start_ns = kernel_now_ns();
    self.has_stderr = kernel_file_status(2, &self.begun);
    self.launched.loader = (uintptr_t)&is_llvm; /* a symbol that nobody can interpose */
    self.launched.images = images;
    return version < LAV_CURRENT ? version : LAV_CURRENT;
}

/* Called for the search of a library: first with its name (LA_SER_ORIG), then, if no folder has it, with a
 * path in each folder that may have it. The loader must know the runtime by each name that it is searched by.
 * The loader adds the first name to a new object. To an object that is already loaded, it adds only the paths
 * that it looks for; so for such an object the answer comes then. */
EXPORT char *la_objsearch(const char *name, uintptr_t *cookie, unsigned flag)
{
    const char *file = text_file_name(name);
    bool gcc = is_gcc(file), now = flag == LA_SER_ORIG ? !self.llvm || file != name : self.llvm != NULL;
    if (!now || !(gcc || (self.llvm && is_llvm(file))))
        return (char *)name;
    if (gcc && !self.asked)
        read_environment(&self.given);
    self.asked |= gcc;
    const char *runtime = self.llvm ? self.llvm->l_name : self.given.libomp;
    if (self.given.unread && !*runtime && self.judged != (const struct link_map *)*cookie)
        say_unread((const struct link_map *)*cookie);
    if (!*runtime || text_equal(runtime, name) || !runtime_is_enough((const struct link_map *)*cookie, file))
        return (char *)name;
    self.moved |= text_equal(file, GCC_NAME);
    self.launched.moved = 1;
    return (char *)runtime;
}

/* Prints what an object lacks that was loaded after the runtime: the loader does not ask about a name that it
 * knows. */
static void tell_of_late(const struct elf_view *needer, const struct link_map *map)
{
    struct elf_view runtime;
    struct elf_lack lack;
    elf_view_of_map(&runtime, self.llvm);
    if (!elf_view_needs(needer, map, GCC_NAME))
        return;
    if (elf_view_lacks(&runtime, needer, GCC_NAME, &lack)) {
        say_lack(map, &lack, " may not load" REPLACED);
        return;
    }
    unsigned traits = traits_of(needer);
    const char *differs = self.given.moves_all ? NULL : traits_differ(traits, self.given.cancels);
    self.launched.deprecated |= (traits & TRAIT_DEPRECATED) != 0;
    if (differs)
        print_reason(map, differs, " runs on it" REPLACED);
}

/* Makes room for the thread-local storage of an object that the process starts with. */
static void make_room(const struct elf_view *view, const struct link_map *map)
{
    struct elf_view program;
    self.lines_before += static_tls_begin(view);
    elf_view_of_map(&program, self.program);
    if (!static_tls_fits(map, &program)) {
        const char *parts[] = {"blame: ", map->l_name,
                               ": its thread-local storage has no place next to an audit library of the loader: the "
                               "program is measured from its first use of OpenMP on; a GCC program is not measured\n"};
        write_line(parts, sizeof(parts) / sizeof(parts[0]));
        static_tls_leave();
    }
    const char *tunable = static_tls_add(map, self.lines);
    const char *parts[] = {
        "blame: ", map->l_name,
        ": its thread-local storage may find no room next to an audit library of the loader, and the "
        "program cannot be started again with more room: set GLIBC_TUNABLES=",
        tunable, "\n"};
    if (tunable)
        write_line(parts, sizeof(parts) / sizeof(parts[0]));
}

EXPORT unsigned la_objopen(struct link_map *map, Lmid_t namespace, uintptr_t *cookie)
{
    struct elf_view view;
    const char *file = text_file_name(map->l_name);
    (void)cookie; /* stays the map's address */
    if (namespace != LM_ID_BASE)
        return 0;
    if (self.measured)
        images_add(map);
    if (!self.program)
        self.program = map;
    if (self.fresh_count < FRESH_OBJECTS)
        self.fresh[self.fresh_count++] = map;
    if (!self.llvm && (is_llvm(file) || (*self.given.libomp && text_equal(map->l_name, self.given.libomp))))
        self.llvm = map;
    elf_view_of_map(&view, map);
    if (!self.mapped && map != self.program)
        make_room(&view, map);
    if (self.moved && self.llvm && map != self.llvm)
        tell_of_late(&view, map);
    if (!text_equal(file, "libblame.so"))
        return 0;
    const ElfW(Sym) *symbol = elf_view_find(&view, "blame_launched");
    self.measured = symbol && symbol->st_size == sizeof(self.launched);
    if (self.measured)
        *(struct launched *)(view.base + symbol->st_value) = self.launched;
    return 0;
}

EXPORT unsigned la_objclose(uintptr_t *cookie)
{
    const struct link_map *map = (const struct link_map *)*cookie;
    images_remove(map);
    if (map == self.llvm)
        self.llvm = NULL;
    if (map == self.judged)
        self.judged = NULL;
    if (map == self.told)
        self.told = NULL;
    for (unsigned i = 0; i < self.fresh_count; i++)
        if (self.fresh[i] == map)
            self.fresh[i--] = self.fresh[--self.fresh_count];
    return 0;
}

/* Returns whether any object of the process has the name, or might have it: objects with the old kind of hash
 * table are not searched. */
static bool process_has(const void *first, const char *name)
{
    struct elf_view view;
    for (const struct link_map *map = first; map; map = map->l_next) {
        elf_view_of_map(&view, map);
        bool searched = view.gnu_hash || !view.symbols || text_after(map->l_name, "linux-vdso");
        if (!searched || elf_view_find(&view, name))
            return true;
    }
    return false;
}

/* Prints names that no object has. Names are bound at their first call, and would otherwise be missing in the
 * middle of the run. Checks the objects that have come since the last time. */
static void tell_of_unmet(void)
{
    for (unsigned i = 0; i < self.fresh_count; i++) {
        struct elf_view view;
        struct elf_lack lack;
        elf_view_of_map(&view, self.fresh[i]);
        if (self.fresh[i] != self.told && elf_view_unmet(&view, process_has, self.program, &lack))
            say_lack(self.fresh[i], &lack, " runs all the same, and ends where it calls that");
    }
    self.fresh_count = 0;
}

EXPORT void la_activity(uintptr_t *cookie, unsigned flag)
{
    elf_view_forget_pages();
    self.mapped |= flag == LA_ACT_CONSISTENT && self.program == (const struct link_map *)*cookie;
    if (flag == LA_ACT_CONSISTENT && self.llvm)
        tell_of_unmet();
}

/* Returns the runtime's function of that name, or NULL. */
static uintptr_t runtime_function(const struct elf_view *runtime, const char *name)
{
    const ElfW(Sym) *symbol = elf_view_find(runtime, name);
    return symbol && ELF64_ST_TYPE(symbol->st_info) == STT_FUNC ? runtime->base + symbol->st_value : 0;
}

/* Called before main, when all libraries are loaded and have run their constructors: any call starts the
 * runtime, and with it the tool. This call asks for no threads: it neither counts them nor binds the first
 * one to its OMP place. GCC's runtime does both at its start, and so does LLVM's when it has taken that
 * runtime's place. */
EXPORT void la_preinit(uintptr_t *cookie)
{
    struct elf_view view;
    /* the runtime may be linked into the program itself */
    const struct link_map *maps[] = {self.llvm, self.program};
    (void)cookie;
    for (size_t i = 0; i < 2; i++) {
        if (!maps[i])
            continue;
        elf_view_of_map(&view, maps[i]);
        uintptr_t start = runtime_function(&view, "__kmpc_global_thread_num");
        if (!start || !runtime_function(&view, "__kmpc_fork_call"))
            continue;
        self.launched.before_main = 1;
        ((int (*)(void *))start)(NULL);
        self.launched.before_main = 0;
        uintptr_t places = self.launched.moved ? runtime_function(&view, "omp_get_num_places") : 0;
        if (places)
            ((int (*)(void))places)();
        return;
    }
}
