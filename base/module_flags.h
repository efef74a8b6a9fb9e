/* What kind of code a module (an ELF file or the vDSO) holds: decides what a frame in it means. */
#ifndef BLAME_BASE_MODULE_FLAGS_H
#define BLAME_BASE_MODULE_FLAGS_H

enum profile_module_flag {
    PROFILE_MODULE_RUNTIME = 1,    /* the OpenMP runtime */
    PROFILE_MODULE_EXECUTABLE = 2, /* the program itself */
    PROFILE_MODULE_SYSTEM = 4,     /* libc, the loader, the vDSO */
    PROFILE_MODULE_TOOL = 8,       /* libblame itself */
    PROFILE_MODULE_VDSO = 16,
    PROFILE_MODULE_PATH_CUT = 32, /* the path did not fit */
    PROFILE_MODULE_INTERPRETER =
        64, /* Python's or R's, whose own frames are read instead of those of who interprets them */
    PROFILE_MODULE_PYTHON =
        128, /* no ELF file: a function in Python, by its file and name; its addresses are lines. Or in R, which has neither */
    PROFILE_MODULE_R = 256, /* the interpreter is R's */
};

#endif
