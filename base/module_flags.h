/* The kind of code that a module (an ELF file or the vDSO) contains. It determines what a frame in the module
 * means. */
#ifndef BLAME_BASE_MODULE_FLAGS_H
#define BLAME_BASE_MODULE_FLAGS_H

enum profile_module_flag {
    PROFILE_MODULE_RUNTIME = 1,    /* the OpenMP runtime */
    PROFILE_MODULE_EXECUTABLE = 2, /* the program itself */
    PROFILE_MODULE_SYSTEM = 4,     /* libc, the loader, the vDSO */
    PROFILE_MODULE_TOOL = 8,       /* libblame itself */
    PROFILE_MODULE_VDSO = 16,
    PROFILE_MODULE_PATH_CUT = 32, /* the path was too long and is truncated */
    /* the interpreter of Python or R; walks show the functions that it runs, not the interpreter's own C
     * frames */
    PROFILE_MODULE_INTERPRETER = 64,
    /* not an ELF file: a Python function with the file that defines it, in which addresses are line numbers;
     * or an R function, which has no file and no line numbers */
    PROFILE_MODULE_PYTHON = 128,
    PROFILE_MODULE_R = 256, /* with PROFILE_MODULE_INTERPRETER: the interpreter is R's */
};

#endif
