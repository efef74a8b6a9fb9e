/* A program of ISO C. Its functions have names that POSIX gives to libc's, and names of libraries that the tool uses: the tool calls
 * theirs all the same. With LIBRARY they are in a library, which always exports them; the program itself does with -rdynamic.
 * The OpenMP runtime calls none of these names. Compiled with -fno-builtin. */
#include <stdio.h>
#include <stdlib.h>

struct mesh {
    double at[64];
};

#define OWN(name)                                                                                                      \
    void name(struct mesh *mesh);                                                                                      \
    void name(struct mesh *mesh)                                                                                       \
    {                                                                                                                  \
        fprintf(stderr, #name "() was called by somebody else\n");                                                     \
        mesh->at[0] = 1;                                                                                               \
    }

#if !defined(USES_LIBRARY)
OWN(access)
OWN(clock_gettime)
OWN(fcntl)
OWN(fnmatch)
OWN(fstat)
OWN(gethostname)
OWN(getppid)
OWN(ioctl)
OWN(lstat)
OWN(mkdir)
OWN(nanosleep)
OWN(readdir)
OWN(realpath)
OWN(rmdir)
OWN(sendfile)
OWN(stat)
OWN(statfs)
OWN(stpcpy)
OWN(strsep)
OWN(timer_create)
OWN(timer_delete)
OWN(timer_gettime)
OWN(timer_settime)
OWN(usleep)
OWN(write)
OWN(_dl_find_object)
OWN(fmax)
OWN(ZydisDecoderInit)
OWN(ZydisDecoderDecodeFull)
OWN(_Ux86_64_create_addr_space)
OWN(_Ux86_64_init_remote)
OWN(_Ux86_64_step)
OWN(_Ux86_64_get_save_loc)
OWN(_U_dyn_info_list_addr)
#else
void strsep(struct mesh *mesh); /* so that the library is needed */
#endif

#if !defined(LIBRARY)
int main(void)
{
    static volatile double sum[2][64];
#if defined(USES_LIBRARY)
    struct mesh mesh;
    strsep(&mesh);
#endif
#pragma omp parallel for num_threads(2)
    for (int thread = 0; thread < 2; thread++)
        for (int i = 0; i < 15000000; i++)
            sum[thread][0] = sum[thread][0] * 1.0000001 + 1;
    puts("done");
    return 0;
}
#endif
