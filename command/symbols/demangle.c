/* Converts linkage names to readable names.
 *
 * C++ names keep their parameters and template arguments but lose return types, as in perf and hpcviewer:
 * ns::Class<int>::method(double). If only the symbol of a Fortran module procedure is known, its name becomes
 * module::procedure. */
#include "command/symbols/demangle.h"

#include <ctype.h>
#include <libiberty/demangle.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "command/symbols/code.h"
#include "command/symbols/module.h"
#include "command/symbols/symbol.h"

/* ---- outlined functions ---- */

/* Recognises outlined functions by their names. Compilers use these names, and append a number if there are
 * several constructs of the same kind:
 *   clang >= 17    solve.omp_outlined; with -g also solve.omp_outlined_debug__, which is inlined into the
 *                  first function, or, at -O0, called by it
 *   clang < 17     .omp_outlined. and .omp_outlined._debug__, without the host's name
 *   clang, tasks   .omp_task_entry., into which .omp_outlined. is inlined; without the host's name
 *   gcc            solve._omp_fn.0 for regions and tasks; its DWARF entry is inside that of the host
 *   flang          _QMmPsolve..omp_par for regions and tasks
 * clang declares the outer function on the line of the directive, and the inner one on the first line of the
 * body. In code by GCC, the first row of the line table has the line of the directive. */

static struct symbols_outlined symbols_construct_parse_clang(const char *raw, const char *mark)
{
    const char *last = mark, *next;
    while ((next = strstr(last + 1, CLANG_MARK)))
        last = next;
    struct symbols_outlined result = {.kind = SYMBOL_PARALLEL, .compiler = SYMBOLS_CLANG};
    result.stem = (size_t)(mark - raw);
    result.inner = strstr(last, "_debug__") != NULL;
    result.task_part = result.stem == 0 && !result.inner;
    return result;
}

struct symbols_outlined symbols_construct_parse(const char *raw)
{
    const char *mark;
    if (!strchr(raw, '.'))
        return (struct symbols_outlined){0};
    if (strncmp(raw, ".omp_task_entry.", 16) == 0)
        return (struct symbols_outlined){.kind = SYMBOL_TASK, .compiler = SYMBOLS_CLANG};
    if ((mark = strstr(raw, CLANG_MARK)))
        return symbols_construct_parse_clang(raw, mark);
    if ((mark = strstr(raw, "._omp_fn."))) {
        return (struct symbols_outlined){
            .kind = SYMBOL_PARALLEL, .compiler = SYMBOLS_GCC, .uncertain = true, .stem = (size_t)(mark - raw)};
    }
    if ((mark = strstr(raw, "..omp_par"))) {
        return (struct symbols_outlined){
            .kind = SYMBOL_PARALLEL, .compiler = SYMBOLS_FLANG, .uncertain = true, .stem = (size_t)(mark - raw)};
    }
    if ((mark = strstr(raw, ".DIR.OMP."))) {
        return (struct symbols_outlined){.kind = strstr(mark, "TASK") ? SYMBOL_TASK : SYMBOL_PARALLEL,
                                         .compiler = SYMBOLS_INTEL,
                                         .stem = (size_t)(mark - raw)};
    }
    return (struct symbols_outlined){0};
}

struct symbols_launch symbols_launch_by(const char *name)
{
    static const char parallel[] = "GOMP_parallel";
    if (strcmp(name, "__kmpc_fork_call") == 0 || strcmp(name, "__kmpc_fork_call_if") == 0 ||
        strcmp(name, "__kmpc_fork_teams") == 0)
        return (struct symbols_launch){2, true, SYMBOL_PARALLEL};
    if (strcmp(name, "__kmpc_omp_task_alloc") == 0 || strcmp(name, "__kmpc_omp_target_task_alloc") == 0)
        return (struct symbols_launch){5, false, SYMBOL_TASK};
    if (strncmp(name, parallel, sizeof parallel - 1) == 0 && strcmp(name, "GOMP_parallel_end") != 0)
        return (struct symbols_launch){0, true, SYMBOL_PARALLEL};
    if (strcmp(name, "GOMP_target") == 0 || strcmp(name, "GOMP_target_ext") == 0)
        return (struct symbols_launch){1, true, SYMBOL_PARALLEL};
    if (strcmp(name, "GOMP_teams_reg") == 0)
        return (struct symbols_launch){0, true, SYMBOL_PARALLEL};
    if (strcmp(name, "GOMP_task") == 0 || strcmp(name, "GOMP_taskloop") == 0 || strcmp(name, "GOMP_taskloop_ull") == 0)
        return (struct symbols_launch){0, true, SYMBOL_TASK};
    return (struct symbols_launch){.argument = -1};
}

bool symbols_launches(const char *name)
{
    return symbols_launch_by(name).argument >= 0;
}

/* ---- demangling ---- */

/* maximum length in bytes of a name that is demangled; the readable form of a longer one could be huge */
#define MAX_MANGLED_BYTES 16384u

/* Demangles a name made by gfortran, such as "__solver_MOD_smooth". */
static char *symbols_demangle_gfortran(const char *name)
{
    const char *middle = strncmp(name, "__", 2) == 0 ? strstr(name + 2, "_MOD_") : NULL;
    if (!middle || middle == name + 2 || !middle[5])
        return NULL;
    size_t module_bytes = (size_t)(middle - name) - 2;
    char *result = malloc(strlen(name) + 1);
    if (result) {
        memcpy(result, name + 2, module_bytes);
        memcpy(result + module_bytes, "::", 2);
        strcpy(result + module_bytes + 2, middle + 5);
    }
    return result;
}

/* Demangles a name made by flang, such as "_QMsolverPsmooth". Names are in lower case. The capital letters M,
 * S and F start the name of a scope, P that of a procedure, and E that of a variable. Returns NULL if the
 * name has another form. */
static char *symbols_demangle_flang(const char *name)
{
    const char *from = name + 2;
    if (strcmp(name, "_QQmain") == 0)
        return strdup("MAIN__");
    char *result = malloc(2 * strlen(name) + 1), *to = result;
    while (result && *from) {
        char kind = *from++;
        size_t bytes = strcspn(from, "ABCDEFGHIJKLMNOPQRSTUVWXYZ.");
        if (!strchr("MSFPE", kind) || (!bytes && kind != 'F') || from[bytes] == '.') {
            free(result);
            return NULL;
        }
        if (bytes && to != result)
            to = stpcpy(to, "::");
        memcpy(to, from, bytes);
        to += bytes;
        from += bytes;
    }
    if (result)
        *to = '\0';
    if (result && !*result) {
        free(result);
        return NULL;
    }
    return result;
}

/* GCC divides a coroutine f(int) into functions whose demangled names are "f(f(int)::_Z1fi.Frame*) [clone .actor]".
 * Reduces such a name to "f(int) [clone .actor]". */
static void symbols_shorten_coroutine(char *name)
{
    char *frame = strstr(name, ".Frame*)"), *scope = NULL;
    for (char *at = frame ? strstr(name, "::_Z") : NULL; at && at < frame; at = strstr(at + 1, "::_Z"))
        scope = at;
    for (char *open = scope ? strchr(name, '(') : NULL; open && open < scope; open = strchr(open + 1, '(')) {
        size_t bytes = (size_t)(open - name), inner = (size_t)(scope - open) - 1;
        if (inner > bytes && strncmp(open + 1, name, bytes + 1) == 0) {
            const char *rest = frame + strlen(".Frame*)");
            memmove(name, open + 1, inner);
            memmove(name + inner, rest, strlen(rest) + 1);
            return;
        }
    }
}

char *symbols_demangle(const char *name)
{
    char *result = NULL;
    if (strlen(name) <= MAX_MANGLED_BYTES) {
        if (name[0] == '_' && (name[1] == 'Z' || name[1] == 'R'))
            result = rust_demangle(name, 0); /* without the hash at its end; NULL for names of other languages */
        if (!result && name[0] == '_' && name[1] == 'Z')
            result = cplus_demangle_v3(name, DMGL_PARAMS | DMGL_ANSI | DMGL_RET_DROP);
        else if (name[0] == '_' && name[1] == 'Q')
            result = symbols_demangle_flang(name);
        else if (name[0] == '_' && name[1] == '_')
            result = symbols_demangle_gfortran(name);
    }
    if (result)
        symbols_shorten_coroutine(result);
    return result ? result : strdup(name);
}

static bool symbol_suffix_is_clone(const char *suffix)
{
    static const char *const words[] = {"isra", "constprop",  "part",        "cold",   "lto_priv",
                                        "llvm", "localalias", "specialized", "__uniq", "unlikely"};
    size_t digits = strspn(suffix, "0123456789");
    if (digits)
        return !suffix[digits];
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(suffix, words[i]) == 0)
            return true;
    return false;
}

size_t symbols_name_stem(const char *name)
{
    char suffix[32];
    size_t bytes = strlen(name);
    for (;;) {
        size_t dot = bytes;
        while (dot > 0 && name[dot - 1] != '.')
            dot--;
        size_t suffix_bytes = bytes - dot;
        if (dot < 2 || name[dot - 2] == '.' || suffix_bytes == 0 || suffix_bytes >= sizeof suffix)
            return bytes;
        memcpy(suffix, name + dot, suffix_bytes);
        suffix[suffix_bytes] = '\0';
        if (!symbol_suffix_is_clone(suffix))
            return bytes;
        bytes = dot - 1;
    }
}

const char *symbols_name_readable(struct pool *pool, const char *name, size_t bytes)
{
    const char *whole = pool_text(pool, "%.*s", (int)bytes, name);
    /* a function made by GCC, which copies the firstprivate variables of a task */
    const char *copy = strstr(whole, "._omp_cpyfn.");
    size_t stem_bytes = copy ? (size_t)(copy - whole) : symbols_name_stem(whole);
    const char *stem = pool_text(pool, "%.*s", (int)stem_bytes, whole);
    char *readable = symbols_demangle(stem);
    const char *result = pool_text(pool, "%s%s", readable ? readable : stem, copy ? " [firstprivate copy]" : "");
    free(readable);
    return result;
}

const struct symbols_name *symbols_frames_symbol(struct symbols_module *module, const char *symbol)
{
    struct symbols_name *name = symbols_map_find(&module->names, (uintptr_t)symbol);
    if (name || !(name = pool_alloc(module->pool, sizeof *name)))
        return name;
    *name = (struct symbols_name){.raw = symbol, .file = "", .linkage = true};
    name->display = symbols_name_readable(module->pool, symbol, strlen(symbol));
    symbols_map_put(&module->names, (uintptr_t)symbol, name);
    return name;
}
