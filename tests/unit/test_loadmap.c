/* programs: $(UNIT_LIBRARIES) */
#include "base/module_flags.h"
#include "tests/unit/unit.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/mount.h>

#include "base/atomics.h"
#include "base/launched.h"
#include "base/os.h"
#include "unwind/loadmap.h"
#include "unwind/modules.h"

static const char *const libraries[] = {"loaded.so", "loaded_based.so", "loaded_joined.so", "loaded_noheader.so"};

static char *library_path(const char *name)
{
    static char path[PATH_MAX], real[PATH_MAX];
    snprintf(path, sizeof(path), "%s/unit/%s", getenv("BUILD") ? getenv("BUILD") : "build", name);
    assert_non_null(realpath(path, real));
    return real;
}

static void *load(const char *path)
{
    void *library = dlopen(path, RTLD_NOW);
    if (!library)
        fail_msg("%s", dlerror());
    return library;
}

static uintptr_t call_address(void *library)
{
    void *address = dlsym(library, "loaded_call");
    assert_non_null(address);
    return (uintptr_t)address;
}

/* Holds a module against what the loader says of it. */
static void check_headers(const struct dl_phdr_info *info, const struct loadmap_module *module)
{
    uintptr_t low = UINTPTR_MAX, high = 0, header = 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type == PT_GNU_EH_FRAME)
            header = segment->p_vaddr;
        if (segment->p_type != PT_LOAD)
            continue;
        uintptr_t begin = segment->p_vaddr & ~(uintptr_t)4095, end = segment->p_vaddr + segment->p_memsz;
        low = begin < low ? begin : low;
        high = end > high ? end : high;
    }
    assert_int_equal(module->vaddr_low, low);
    assert_int_equal(module->vaddr_high, high);
    assert_int_equal(module->eh_frame_header, header);
    if (!header)
        return;
    assert_non_null(module->view);
    assert_true(header >= module->view_vaddr && header - module->view_vaddr < module->view_bytes);
    assert_memory_equal(module->view + (header - module->view_vaddr), (const char *)info->dlpi_addr + header, 12);
}

static int check_loaded(struct dl_phdr_info *info, size_t bytes, void *count)
{
    (void)bytes;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X))
            continue;
        uintptr_t begin = info->dlpi_addr + segment->p_vaddr;
        for (uintptr_t address = begin; address < begin + segment->p_memsz; address += segment->p_memsz - 1) {
            const struct loadmap_range *range = loadmap_find(address);
            if (!range || range->module_id == 0)
                fail_msg("%s: nothing at its code", info->dlpi_name);
            assert_int_equal(range->load_bias, info->dlpi_addr);
            check_headers(info, loadmap_module(range->module_id));
            (*(int *)count)++;
        }
    }
    return 0;
}

UNIT_TEST(every_module_is_as_the_loader_has_it)
{
    int count = 0;
    dl_iterate_phdr(check_loaded, &count);
    assert_true(count >= 3);
}

UNIT_TEST(libraries_of_every_layout_are_as_the_loader_has_them)
{
    for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++) {
        void *library = load(library_path(libraries[i]));
        loadmap_refresh();
        int count = 0;
        dl_iterate_phdr(check_loaded, &count);
        const struct loadmap_range *range = loadmap_find(call_address(library));
        assert_string_equal(loadmap_module(range->module_id)->path, library_path(libraries[i]));
        dlclose(library);
    }
}

UNIT_TEST(the_executable_is_named_and_has_its_build_id)
{
    char real[PATH_MAX] = "", command[PATH_MAX + 64], text[128] = "", ours[128] = "";
    assert_true(readlink("/proc/self/exe", real, sizeof(real) - 1) > 0);
    const struct loadmap_module *module =
        loadmap_module(loadmap_find((uintptr_t)the_executable_is_named_and_has_its_build_id)->module_id);
    assert_string_equal(module->path, real);
    snprintf(command, sizeof(command), "readelf -n %s | sed -n 's/.*Build ID: //p'", real);
    FILE *pipe = popen(command, "r");
    assert_non_null(fgets(text, sizeof(text), pipe));
    pclose(pipe);
    for (uint32_t i = 0; i < module->build_id_bytes; i++)
        snprintf(ours + 2 * i, 3, "%02x", module->build_id[i]);
    text[strcspn(text, "\n")] = '\0';
    assert_int_equal(module->build_id_bytes, 20);
    assert_string_equal(ours, text);
}

UNIT_TEST(the_vdso_is_known)
{
    uintptr_t vdso = getauxval(AT_SYSINFO_EHDR);
    if (!vdso)
        skip();
    const struct loadmap_range *range = loadmap_find(vdso + 0x800);
    assert_non_null(range);
    const struct loadmap_module *module = loadmap_module(range->module_id);
    assert_int_equal(module->flags, PROFILE_MODULE_VDSO | PROFILE_MODULE_SYSTEM);
    assert_string_equal(module->path, "[vdso]");
    assert_int_equal(range->load_bias, vdso);
    assert_non_null(module->view);
    assert_true(module->build_id_bytes > 0);
}

UNIT_TEST(only_executable_addresses_are_found)
{
    static int variable;
    int on_stack;
    assert_null(loadmap_find(0));
    assert_null(loadmap_find(UINTPTR_MAX));
    assert_null(loadmap_find((uintptr_t)&variable));
    assert_null(loadmap_find((uintptr_t)&on_stack));
    const struct loadmap_range *range = loadmap_find((uintptr_t)only_executable_addresses_are_found);
    assert_ptr_equal(loadmap_find(range->start), range);
    assert_ptr_equal(loadmap_find(range->end - 1), range);
    const struct loadmap_range *before = loadmap_find(range->start - 1), *after = loadmap_find(range->end);
    assert_true(before != range && after != range);
    assert_null(loadmap_module(0));
    assert_null(loadmap_module(loadmap_module_count() + 1));
    assert_non_null(loadmap_module(loadmap_module_count()));
}

UNIT_TEST(code_that_is_no_files_has_no_module)
{
    char *code = mmap(NULL, 8192, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_null(loadmap_find((uintptr_t)code));
    assert_true(loadmap_refresh());
    const struct loadmap_range *range = loadmap_find((uintptr_t)code + 5000);
    assert_non_null(range);
    assert_int_equal(range->module_id, 0);
    assert_int_equal(range->load_bias, 0);
    munmap(code, 8192);
    assert_true(loadmap_refresh());
    assert_null(loadmap_find((uintptr_t)code));
    assert_false(loadmap_refresh()); /* nothing has changed since */
}

/* Code that appears shows whether the map was read. */
static bool reads_at_end(void)
{
    char *code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    loadmap_refresh_at_end();
    bool read = loadmap_find((uintptr_t)code) != NULL;
    munmap(code, 4096);
    loadmap_refresh();
    return read;
}

UNIT_TEST(the_map_is_not_read_again_at_the_end_if_nothing_was_loaded)
{
    struct launched launched = {.opened = 7};
    assert_true(reads_at_end()); /* nobody counts what is loaded */
    modules_launched(&launched);
    loadmap_refresh();
    assert_false(reads_at_end());
    launched.opened++;
    assert_true(reads_at_end());
    assert_false(reads_at_end());
    loadmap_refresh_sometimes(); /* for an unknown address */
    assert_true(reads_at_end());
    modules_launched(NULL);
    loadmap_refresh();
}

UNIT_TEST(a_module_keeps_its_number_when_it_is_loaded_elsewhere)
{
    char *path = library_path("loaded_based.so");
    loadmap_refresh();
    uint32_t count = loadmap_module_count();
    void *library = load(path);
    uintptr_t first = call_address(library);
    const struct loadmap_range *range = loadmap_learn(first);
    uint32_t id = range->module_id;
    uintptr_t vaddr = first - range->load_bias;
    dlclose(library);
    assert_null(loadmap_find(first));
    assert_int_equal(range->module_id, id); /* an old range is still there for whoever reads it: L1 */
    void *blocker = mmap((void *)(first & ~(uintptr_t)4095), 4096, PROT_NONE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    library = load(path);
    uintptr_t second = call_address(library);
    assert_true(second != first);
    assert_null(loadmap_find(second));
    assert_int_equal(loadmap_learn(second)->module_id, id);
    assert_int_equal(second - loadmap_find(second)->load_bias, vaddr);
    assert_int_equal(loadmap_module(id)->load_bias, second - vaddr);
    assert_true(loadmap_module_count() <= count + 1);
    dlclose(library);
    munmap(blocker, 4096);
}

UNIT_TEST(unwind_tables_stay_readable_after_dlclose)
{
    void *library = load(library_path("loaded.so"));
    loadmap_refresh();
    const struct loadmap_module *module = loadmap_module(loadmap_find(call_address(library))->module_id);
    char *before = malloc(module->view_bytes);
    memcpy(before, module->view, module->view_bytes);
    assert_memory_equal(before, (const char *)module->load_bias + module->view_vaddr, module->view_bytes);
    dlclose(library);
    loadmap_refresh();
    assert_memory_equal(before, module->view, module->view_bytes); /* L2 */
    free(before);
}

static void copy_file(const char *from, const char *to)
{
    unlink(to);
    assert_true(os_copy_file(from, to));
}

/* What the view of a library holds when its file went away, or became another, between loading and reading.
 */
static void check_gone(const char *replacement)
{
    const char *path = unit_fresh_path();
    copy_file(library_path("loaded.so"), path);
    void *library = load(path);
    unlink(path);
    if (replacement)
        copy_file(library_path(replacement), path);
    loadmap_refresh();
    const struct loadmap_range *range = loadmap_find(call_address(library));
    assert_non_null(range);
    const struct loadmap_module *module = loadmap_module(range->module_id);
    assert_non_null(module);
    assert_non_null(module->view);
    assert_memory_equal(module->view, (const char *)module->load_bias + module->view_vaddr, module->view_bytes);
    dlclose(library);
    loadmap_refresh();
    unit_clean();
}

UNIT_TEST(a_deleted_library_has_its_tables_copied)
{
    check_gone(NULL);
}

UNIT_TEST(a_replaced_library_is_not_read_from_the_wrong_file)
{
    check_gone("loaded_joined.so");
}

/* In a mount namespace of its own: another file appears under the library's path, and nothing says "deleted".
 * 0: as expected, UNIT_CANNOT: no mount here. */
static int cover_library(void)
{
    static char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s", unit_fresh_path());
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
        return UNIT_CANNOT;
    copy_file(library_path("loaded.so"), path);
    void *library = load(path);
    if (mount("none", unit_directory, "tmpfs", 0, NULL) != 0)
        return UNIT_CANNOT;
    copy_file(library_path("loaded_joined.so"), path);
    loadmap_refresh();
    const struct loadmap_range *range = loadmap_find(call_address(library));
    const struct loadmap_module *module = range ? loadmap_module(range->module_id) : NULL;
    umount2(unit_directory, MNT_DETACH);
    unit_clean();
    if (!module || !module->view || strcmp(module->path, path) != 0)
        return 1;
    return memcmp(module->view, (const char *)module->load_bias + module->view_vaddr, module->view_bytes) != 0;
}

UNIT_TEST(a_library_under_a_mount_is_not_read_from_the_wrong_file)
{
    pid_t child = fork();
    if (child == 0)
        _exit(cover_library());
    unit_child_ends(child, 0);
}

UNIT_TEST(flags_are_added_to_the_module_of_an_address)
{
    uintptr_t here = (uintptr_t)flags_are_added_to_the_module_of_an_address;
    const struct loadmap_module *module = loadmap_module(loadmap_find(here)->module_id);
    loadmap_flag(here, PROFILE_MODULE_EXECUTABLE);
    loadmap_flag(here, PROFILE_MODULE_TOOL);
    assert_int_equal(module->flags, PROFILE_MODULE_EXECUTABLE | PROFILE_MODULE_TOOL);
    loadmap_flag(0, PROFILE_MODULE_RUNTIME);
    loadmap_refresh();
    assert_int_equal(module->flags, PROFILE_MODULE_EXECUTABLE | PROFILE_MODULE_TOOL);
}

UNIT_TEST(the_end_of_a_stack_is_found)
{
    char *memory = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(memory + 8192, 4096);
    assert_int_equal(loadmap_mapping_end((uintptr_t)memory + 100), (uintptr_t)memory + 8192);
    assert_int_equal(loadmap_mapping_end(0), 0);
    munmap(memory, 8192);
    int on_stack;
    uintptr_t end = loadmap_mapping_end((uintptr_t)&on_stack);
    assert_true(end > (uintptr_t)&on_stack && end > (uintptr_t)getauxval(AT_RANDOM)); /* the kernel's data on top */
}

static uint32_t stop;

static void *refresh_and_find(void *argument)
{
    uint64_t *finds = argument;
    while (!load_acquire(&stop)) {
        loadmap_refresh();
        for (uint32_t id = 1; id <= loadmap_module_count(); id++)
            if (!loadmap_module(id) || !loadmap_module(id)->path)
                abort();
        const struct loadmap_range *range = loadmap_find((uintptr_t)refresh_and_find);
        if (!range || !loadmap_module(range->module_id))
            abort();
        store_relaxed(finds, *finds + 1);
    }
    return NULL;
}

UNIT_TEST(threads_read_while_libraries_come_and_go)
{
    pthread_t threads[2];
    uint64_t finds[2] = {0, 0};
    char paths[3][PATH_MAX];
    for (int i = 0; i < 3; i++)
        snprintf(paths[i], PATH_MAX, "%s", library_path(libraries[i]));
    stop = 0;
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, refresh_and_find, &finds[i]);
    for (int i = 0; i < 200 || !load_relaxed(&finds[0]) || !load_relaxed(&finds[1]); i++) {
        void *library = load(paths[i % 3]);
        uintptr_t address = call_address(library);
        /* Another thread may be reading an older map: then this call does nothing, and a later one will do.
         */
        for (int tries = 0; !loadmap_find(address) && tries < 1000000; tries++) {
            loadmap_refresh();
            sched_yield();
        }
        assert_non_null(loadmap_find(address));
        dlclose(library);
    }
    store_release(&stop, 1u);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
}

static int first_read(void **unused)
{
    (void)unused;
    return loadmap_init() ? 0 : -1;
}

UNIT_MAIN(first_read, NULL)
