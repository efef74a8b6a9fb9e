/* One function with four names, as a C library has them, and code that asks for one. Read, never run. */
double names_minf64(double a, double b);

#ifdef NAMES_LIBRARY
__attribute__((visibility("hidden"))) double __GI_names_min(double a, double b)
{
    return a < b ? a : b;
}
extern double names_min(double a, double b) __attribute__((weak, alias("__GI_names_min")));
extern double names_minf32x(double a, double b) __attribute__((alias("__GI_names_min")));
extern double names_minf64(double a, double b) __attribute__((weak, alias("__GI_names_min")));
#else
int names_main(int argc)
{
    return (int)names_minf64(argc, 3);
}
#endif
