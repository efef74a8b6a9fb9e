/* Constructs in members, templates, lambdas and namespaces. tests/unit/test_symbols.c follows the line numbers:
 * append, do not insert. */
#include <cstdio>
#include <vector>

static volatile double sink;

namespace grids {

template <typename T> class Mesh {
public:
    explicit Mesh(int count) : values(count) {}
    __attribute__((noinline)) void relax(T weight);
    __attribute__((noinline)) T total(const std::vector<int> &picks) const;

private:
    std::vector<T> values;
};

template <typename T> void Mesh<T>::relax(T weight)
{
    int count = static_cast<int>(values.size());
#pragma omp parallel for
    for (int i = 0; i < count; i++) {
        values[i] += weight;
        sink = sink + values[i];
    }
    sink = sink + 1.0;
}

template <typename T> T Mesh<T>::total(const std::vector<int> &picks) const
{
    T sum = 0;
    for (int pick : picks) {
        sum += values[pick];
        sink = sink + sum;
    }
    return sum;
}

__attribute__((noinline)) void spawn(int depth)
{
#pragma omp task firstprivate(depth)
    {
        sink = sink + depth;
        if (depth > 0) {
            spawn(depth - 1);
        }
        sink = sink + depth;
    }
    sink = sink + depth;
}

} // namespace grids

namespace {
__attribute__((noinline)) void hidden(double value)
{
    auto body = [=](double x) __attribute__((noinline)) {
#pragma omp parallel
        {
            sink = sink + x + value;
            sink = sink + x * value;
        }
        sink = sink + 4.0;
    };
    body(value);
    sink = sink + value;
}
} // namespace

int main()
{
    grids::Mesh<double> mesh(64);
    mesh.relax(2.0);
#pragma omp parallel
#pragma omp single
    grids::spawn(4);
    hidden(3.0);
    std::printf("%d\n", mesh.total({1, 2, 3}) > 0.0);
    return 0;
}
