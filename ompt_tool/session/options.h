/* The environment variables of contract and README, read once from one table. */
#ifndef BLAME_OMPT_TOOL_SESSION_OPTIONS_H
#define BLAME_OMPT_TOOL_SESSION_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CLOCK_WALL = 0, CLOCK_CPU = 1 };
enum { ENVIRONMENT_DEDICATED = 0, ENVIRONMENT_SHARED = 1 };
enum { CONTEXT_DEFERRED = 0, CONTEXT_EAGER = 1 };
enum { TASKS_REGION = 0, TASKS_CREATION = 1 };

enum { LOCKS_IN_SECTION = 0, LOCKS_AT_RELEASE = 1 };

struct options {
    const char *out; /* BLAME_OUT as given, NULL: the default name */
    const char *counters,
        *sample; /* BLAME_COUNTERS and BLAME_SAMPLE as given, NULL: none (counters_plan.c) */
    int rate;    /* samples per second and thread */
    int clock;
    int environment;
    int context;
    int tasks;
    int locks;
    int depth; /* most frames kept per path */
    int csv;
    int summary;
    int private; /* the profile is for its owner alone */
    int disable;
    int signal;                 /* BLAME_SIGNAL, 0: the tool chooses */
    int phase_instances;        /* rows of one phase's instances */
    const char *events_include; /* comma separated shell patterns, NULL: all */
    const char *events_exclude; /* the same, NULL: none */
    uint64_t throttle_calls;    /* an event called more often than this */
    uint64_t throttle_ns;       /* and shorter, on average, than this is not measured any more; 0: never */
};

/* Reads the environment; a bad value is named on stderr and replaced by its default. [init] */
void options_from_environment(struct options *options);

/* The values in effect as "NAME=value" lines, for run.json. [init] */
void options_print(const struct options *options, char *text, size_t bytes);

#endif
