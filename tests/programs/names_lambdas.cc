// Lambdas that GCC inlines, in main, in one another and in a namespace without a name.
// tests/unit/test_symbols_scopes.c follows the line numbers: append, do not insert.
volatile double sink;
template <class F> static inline __attribute__((always_inline)) void twice(F f)
{
    f();
    f();
}
namespace {
void apart()
{
    twice([] { sink = sink + 3; }); // 12
}
}
int main()
{
    twice([&] { sink = sink * 5; }); // 17
    twice([&] { sink = sink * 7; }); // 18
    twice([&] { twice([&] { sink = sink / 9; }); }); // 19
    apart();
}
