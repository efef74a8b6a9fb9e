/* Declarations that all benchmark kernels share: a clock, the result line, and parsing of the command line.
 * Everything is in this header, so that each kernel is one translation unit that any OpenMP compiler can
 * build. */
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

/* Exit statuses. bench.py distinguishes the two kinds of failure. */
enum { KERNEL_VERIFIED = 0, KERNEL_FAILED = 1, KERNEL_USAGE = 2 };

static inline double kernel_clock_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Prints `kernel size threads seconds VERIFIED|FAILED`. Returns the exit status for main(). */
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

/* One integer argument. If its name starts without dashes, it is positional. All arguments are optional, and
 * *value is the default at first. If `letters` is set, the argument is one of these letters, and its value is
 * the letter's index. In an array of arguments, a NULL name marks the end. */
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

/* Returns the option named `text`, or the next unused positional argument. */
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

/* Returns the size in printed form: `27`, or `27,cutoff=10` if the option is used. */
static inline const char *kernel_size_text(char *text, size_t text_bytes, long size, const char *option, long value)
{
    if (value != 0)
        snprintf(text, text_bytes, "%ld,%s=%ld", size, option, value);
    else
        snprintf(text, text_bytes, "%ld", size);
    return text;
}

/* Arguments of the kernels modelled on NPB: a problem class, and how often to solve the problem. */
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

/* Computes one step of splitmix64 (Steele, Lea, Flood, OOPSLA 2014), the random numbers of the kernels
 * modelled on BOTS. */
static inline uint64_t kernel_hash(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* Converts a hash to a number in [0, 1). */
static inline double kernel_unit(uint64_t hash)
{
    return (double)(int64_t)(hash >> 11) * 0x1p-53;
}

#endif
