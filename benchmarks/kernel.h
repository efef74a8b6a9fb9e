/* What all benchmark kernels share: a clock, the line with the result, and the command line. The code is in a
 * header, so that any OpenMP compiler can build a kernel as a single translation unit. */
#ifndef BENCHMARKS_KERNEL_H
#define BENCHMARKS_KERNEL_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <omp.h>

/* Exit statuses. bench.py treats a wrong result and a wrong command line differently. */
enum { KERNEL_VERIFIED = 0, KERNEL_FAILED = 1, KERNEL_USAGE = 2 };

static inline double kernel_clock_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Prints the line `kernel size threads seconds VERIFIED|FAILED`, and returns the exit status for main(). */
static inline int kernel_report(const char *kernel, const char *size, double seconds, bool verified)
{
    printf("%s %s %d %.6f %s\n", kernel, size, omp_get_max_threads(), seconds, verified ? "VERIFIED" : "FAILED");
    fflush(stdout);
    return verified ? KERNEL_VERIFIED : KERNEL_FAILED;
}

static inline void *kernel_alloc(size_t count, size_t size_bytes)
{
    void *memory = calloc(count, size_bytes);
    if (memory == NULL) {
        fprintf(stderr, "out of memory: %zu x %zu bytes\n", count, size_bytes);
        exit(KERNEL_FAILED);
    }
    return memory;
}

/* An integer argument of the command line. It is an option if its name starts with dashes; otherwise it is
 * positional. All arguments are optional: *value is the default until the argument is read. If `letters` is
 * set, the argument must be one of these letters, and its value is the index of the letter. An argument whose
 * name is NULL ends an array of arguments. */
struct kernel_arg {
    const char *name;
    long *value;
    long min, max;
    const char *help;
    const char *letters;
};

static inline void kernel_print_usage(FILE *out, const char *kernel, const struct kernel_arg *args)
{
    fprintf(out, "usage: %s", kernel);
    for (const struct kernel_arg *arg = args; arg->name != NULL; arg++)
        fprintf(out, arg->name[0] == '-' ? " [%s N]" : " [%s]", arg->name);
    fprintf(out, "\n");
    for (const struct kernel_arg *arg = args; arg->name != NULL; arg++) {
        fprintf(out, "  %-10s %s ", arg->name, arg->help);
        if (arg->letters != NULL)
            fprintf(out, "(one of %s, default %c)\n", arg->letters, arg->letters[*arg->value]);
        else
            fprintf(out, "(%ld ... %ld, default %ld)\n", arg->min, arg->max, *arg->value);
    }
}

static inline void kernel_set_arg(const char *kernel, const struct kernel_arg *arg, const char *text)
{
    char *end;
    if (arg->letters != NULL) {
        const char *found = strlen(text) == 1 ? strchr(arg->letters, text[0]) : NULL;
        if (found == NULL) {
            fprintf(stderr, "%s: %s: '%s' is not one of %s\n", kernel, arg->name, text, arg->letters);
            exit(KERNEL_USAGE);
        }
        *arg->value = found - arg->letters;
        return;
    }
    errno = 0;
    long value = strtol(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || value < arg->min || value > arg->max) {
        fprintf(stderr, "%s: %s: '%s' is not an integer in %ld ... %ld\n", kernel, arg->name, text, arg->min, arg->max);
        exit(KERNEL_USAGE);
    }
    *arg->value = value;
}

/* Returns the option with the name `text`, or, if `text` is no option, the next positional argument. */
static inline const struct kernel_arg *kernel_find_arg(const struct kernel_arg *args, const char *text, int position)
{
    for (const struct kernel_arg *arg = args; arg->name != NULL; arg++) {
        if (text[0] == '-' && text[1] == '-') {
            if (strcmp(arg->name, text) == 0)
                return arg;
        } else if (arg->name[0] != '-' && position-- == 0) {
            return arg;
        }
    }
    return NULL;
}

static inline void kernel_parse_args(int argc, char **argv, const char *kernel, const struct kernel_arg *args)
{
    int position = 0;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0) {
            kernel_print_usage(stdout, kernel, args);
            exit(KERNEL_VERIFIED);
        }
        const struct kernel_arg *arg = kernel_find_arg(args, argv[i], position);
        if (arg == NULL) {
            fprintf(stderr, "%s: unknown argument '%s'\n", kernel, argv[i]);
            kernel_print_usage(stderr, kernel, args);
            exit(KERNEL_USAGE);
        }
        if (arg->name[0] != '-') {
            position++;
        } else if (++i == argc) {
            fprintf(stderr, "%s: %s needs a value\n", kernel, arg->name);
            exit(KERNEL_USAGE);
        }
        kernel_set_arg(kernel, arg, argv[i]);
    }
}

/* Returns the size for the line with the result: `27`, or `27,cutoff=10` if the option is used. */
static inline const char *kernel_size_text(char *text, size_t text_bytes, long size, const char *option, long value)
{
    if (value != 0)
        snprintf(text, text_bytes, "%ld,%s=%ld", size, option, value);
    else
        snprintf(text, text_bytes, "%ld", size);
    return text;
}

/* The arguments of a kernel modelled on NPB: its problem class, and how often the problem is solved. */
struct kernel_class {
    long index; /* in "SWA" */
    long repeat;
    char text[32];
};

static inline struct kernel_class kernel_parse_class(int argc, char **argv, const char *kernel)
{
    static const char classes[] = "SWA";
    struct kernel_class chosen = {.index = 0, .repeat = 1};
    const struct kernel_arg args[] = {
        {"CLASS", &chosen.index, 0, 2, "problem class", classes},
        {"--repeat", &chosen.repeat, 1, 1000, "solve it so often; the sum of the times is printed", NULL},
        {0}};
    kernel_parse_args(argc, argv, kernel, args);
    int length = snprintf(chosen.text, sizeof chosen.text, "%c", classes[chosen.index]);
    if (chosen.repeat != 1)
        snprintf(chosen.text + length, sizeof chosen.text - length, ",repeat=%ld", chosen.repeat);
    return chosen;
}

/* Returns the next number of splitmix64 (Steele, Lea, Flood, OOPSLA 2014), from which the kernels modelled on
 * BOTS make their random numbers. */
static inline uint64_t kernel_hash(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* Converts a hash to a number of at least 0 and less than 1. */
static inline double kernel_unit(uint64_t hash)
{
    return (double)(int64_t)(hash >> 11) * 0x1p-53;
}

#endif
