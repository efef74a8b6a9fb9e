#include "export/trial_facts.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/text/format.h"
#include "report/text/memory.h"

void facts_put(struct facts *facts, const char *kind, const char *name, const char *value)
{
    bool several = strcmp(kind, FACT_PARAMETER) == 0 || strcmp(kind, FACT_COMPILER) == 0;
    char *clean = format_clean(value, false);
    for (size_t i = 0; i < facts->count; i++) {
        struct fact *fact = &facts->fact[i];
        bool same = strcmp(fact->kind, kind) == 0 && strcmp(fact->name, name) == 0 && (!several || strcmp(fact->value, clean) == 0);
        if (same) {
            free(fact->value);
            fact->value = clean;
            return;
        }
    }
    memory_grow(&facts->fact, &facts->room, facts->count, sizeof *facts->fact);
    facts->fact[facts->count++] = (struct fact){memory_text("%s", kind), format_clean(name, true), clean};
}

void facts_put_lines(struct facts *facts, const char *kind, const char *lines, const char *less)
{
    size_t skip = strlen(less);
    while (lines && *lines) {
        size_t bytes = strcspn(lines, "\n"), length = strcspn(lines, "=\n");
        if (length < bytes && length > skip && strncmp(lines, less, skip) == 0) {
            char *name = memory_text("%.*s", (int)(length - skip), lines + skip);
            char *value = memory_text("%.*s", (int)(bytes - length - 1), lines + length + 1);
            for (char *at = name; *less && *at; at++)
                *at = (char)tolower((unsigned char)*at);
            facts_put(facts, kind, name, value);
            free(name);
            free(value);
        }
        lines += bytes + (lines[bytes] == '\n');
    }
}

/* "size = 512", as the measurement has a parameter's name. */
static void put_parameters(struct facts *facts, const struct profile *profile)
{
    for (size_t i = 0; i < profile->name_count; i++) {
        const struct profile_name *name = &profile->names[i];
        const char *equals = name->kind == PROFILE_NODE_PARAMETER ? strstr(name->text, " = ") : NULL;
        if (!equals)
            continue;
        char *left = memory_text("%.*s", (int)(equals - name->text), name->text);
        facts_put(facts, FACT_PARAMETER, left, equals + 3);
        free(left);
    }
}

static void put_builds(struct facts *facts, const struct profile *profile)
{
    for (size_t i = 0; i < profile->module_count; i++) {
        const struct profile_module *module = &profile->modules[i];
        char digits[2 * sizeof module->build_id + 1] = "";
        if (module->flags & PROFILE_MODULE_PYTHON)
            continue; /* a function */
        for (uint32_t byte = 0; byte < module->build_id_bytes && byte < sizeof module->build_id; byte++)
            snprintf(digits + 2 * byte, 3, "%02x", module->build_id[byte]);
        char *path = memory_text("%.*s", (int)sizeof module->path, module->path);
        if (*digits)
            facts_put(facts, FACT_BUILD, format_base_name(path), digits);
        free(path);
    }
}

void facts_of_profile(struct facts *facts, const struct profile *profile)
{
    facts_put_lines(facts, FACT_OPTION, profile_text(profile, "options"), "BLAME_");
    facts_put_lines(facts, FACT_MACHINE, profile_text(profile, "machine"), "");
    facts_put_lines(facts, FACT_ENVIRONMENT, profile_text(profile, "environment"), "");
    facts_put_lines(facts, FACT_USER, profile_text(profile, "meta"), "");
    put_parameters(facts, profile);
    put_builds(facts, profile);
}

void facts_free(struct facts *facts)
{
    for (size_t i = 0; i < facts->count; i++) {
        free(facts->fact[i].kind);
        free(facts->fact[i].name);
        free(facts->fact[i].value);
    }
    free(facts->fact);
    *facts = (struct facts){0};
}
