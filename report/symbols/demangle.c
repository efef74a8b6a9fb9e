/* Readable names.
 *
 * C++ keeps parameters and template arguments and drops return types: ns::Class<int>::method(double), as perf
 * and hpcviewer print them. Fortran procedures of modules are written module::procedure when only the symbol
 * is known. */
#include "report/symbols/demangle.h"

#include <ctype.h>
#include <libiberty/demangle.h>
#include <stdlib.h>
#include <string.h>

/* Longer mangled names are not worth what their expansion can cost. */
#define MAX_MANGLED_BYTES 16384u

/* "__solver_MOD_smooth" of gfortran. */
static char *demangle_gfortran(const char *name)
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

/* "_QMsolverPsmooth" of flang: letters M, S, F name the scopes, P a procedure, E a variable; names are lower
 * case. */
static char *demangle_flang(const char *name)
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

char *symbols_demangle(const char *name)
{
    char *result = NULL;
    if (strlen(name) <= MAX_MANGLED_BYTES) {
        if (name[0] == '_' && name[1] == 'Z')
            result = cplus_demangle_v3(name, DMGL_PARAMS | DMGL_ANSI | DMGL_RET_DROP);
        else if (name[0] == '_' && name[1] == 'Q')
            result = demangle_flang(name);
        else if (name[0] == '_' && name[1] == '_')
            result = demangle_gfortran(name);
    }
    return result ? result : strdup(name);
}

static bool is_clone_suffix(const char *suffix)
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
        if (!is_clone_suffix(suffix))
            return bytes;
        bytes = dot - 1;
    }
}

const char *symbols_name_readable(struct pool *pool, const char *name, size_t bytes)
{
    const char *whole = pool_text(pool, "%.*s", (int)bytes, name);
    const char *copy = strstr(whole, "._omp_cpyfn."); /* GCC: fills a task's firstprivate variables */
    size_t stem_bytes = copy ? (size_t)(copy - whole) : symbols_name_stem(whole);
    const char *stem = pool_text(pool, "%.*s", (int)stem_bytes, whole);
    char *readable = symbols_demangle(stem);
    const char *result =
        pool_text(pool, "%s%s", readable ? readable : stem, copy ? " [firstprivate copy]" : "");
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
