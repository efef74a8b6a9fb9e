/* The kind of code in a module (an ELF file or the vDSO). It decides what a frame in the module means. */
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
        64, /* an interpreter, Python or R: its own functions' frames are read in place of the C frames */
    PROFILE_MODULE_PYTHON =
        /* no ELF file but a Python function, given by its file and name; its addresses are lines; or an R
         * function, without file and lines */
    128,
    PROFILE_MODULE_R = 256, /* the interpreter is R */
};

#endif
