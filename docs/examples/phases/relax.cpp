// Solves Poisson's equation on a grid by successive over-relaxation. A row is relaxed only while it still
// changes, so the work of an iteration shrinks, and fewer and fewer threads share it. The series of the phase
// `sweep` shows this. The program uses scopes: a phase ends with its block, even if an exception leaves the block.
//
// At the end, the program verifies the defect of the whole grid.
// Usage: relax [size [tolerance]]
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "blame.h"
#include "clocked.h"

namespace
{

clocked sweep_time = {"sweep", 0, 0, 0}, check_time = {"check", 0, 0, 0};

class grid
{
  public:
    explicit grid(int size) : n(size), u(cells(size), 0.0), f(cells(size), 0.0), active(size_t(size), 1)
    {
        // There are sources only near the top, so the rows there take longest.
        for (int y = 1; y < n / 8; y++)
            for (int x = 1; x < n - 1; x++)
                f[at(y, x)] = std::sin(0.37 * x) * std::cos(0.11 * y);
    }

    // Relaxes the points of one colour. Records the largest change of each row, and returns the largest of all.
    double relax(int colour)
    {
        blame::event half(colour ? "red" : "black");
        double largest = 0;
#pragma omp parallel for schedule(static) reduction(max : largest)
        for (int y = 1; y < n - 1; y++)
            if (active[size_t(y)] || active[size_t(y - 1)] || active[size_t(y + 1)])
                largest = std::fmax(largest, relax_row(y, colour));
        return largest;
    }

    // Skips rows that hardly change, until a neighbouring row changes. Returns how many rows are not skipped.
    int settle(double tolerance)
    {
        int count = 0;
        for (int y = 1; y < n - 1; y++) {
            active[size_t(y)] = change[size_t(y)] > tolerance;
            count += active[size_t(y)];
            change[size_t(y)] = 0;
        }
        return count;
    }

    // Returns the largest defect. Rows whose defect exceeds the tolerance are relaxed again.
    double check(double tolerance)
    {
        blame::phase whole("check");
        clocked_begin(&check_time);
        double worst = 0;
#pragma omp parallel for schedule(static) reduction(max : worst)
        for (int y = 1; y < n - 1; y++) {
            double row = 0;
            for (int x = 1; x < n - 1; x++)
                row = std::fmax(row, std::fabs(defect(at(y, x))));
            active[size_t(y)] = row > tolerance;
            worst = std::fmax(worst, row);
        }
        clocked_end(&check_time);
        return worst;
    }

  private:
    int n;
    std::vector<double> u, f;
    std::vector<char> active;
    std::vector<double> change = std::vector<double>(active.size(), 0.0);

    static size_t cells(int size)
    {
        return size_t(size) * size_t(size);
    }

    size_t at(int y, int x) const
    {
        return size_t(y) * size_t(n) + size_t(x);
    }

    double defect(size_t i) const
    {
        return (u[i - 1] + u[i + 1] + u[i - size_t(n)] + u[i + size_t(n)] - f[i]) / 4 - u[i];
    }

    double relax_row(int y, int colour)
    {
        double largest = 0;
        for (int x = 1 + (y + colour) % 2; x < n - 1; x += 2) {
            double step = 1.6 * defect(at(y, x));
            u[at(y, x)] += step;
            largest = std::fmax(largest, std::fabs(step));
        }
        change[size_t(y)] = std::fmax(change[size_t(y)], largest);
        return largest;
    }
};

int sweep(grid &field, int number, double tolerance)
{
    blame::iteration one("sweep", number);
    clocked_begin(&sweep_time);
    field.relax(0);
    field.relax(1);
    int left = field.settle(tolerance);
    double seconds = clocked_end(&sweep_time);
    if (number % 100 == 0)
        std::printf("clocked sweep [%d] 1 %.6f\n", number, seconds);
    return left;
}

} // namespace

int main(int argc, char **argv)
{
    int size = argc > 1 ? std::atoi(argv[1]) : 1200, sweeps = 0;
    double tolerance = argc > 2 ? std::atof(argv[2]) : 1e-5;
    if (size < 3 || size > 20000 || !(tolerance > 0))
        return std::fputs("usage: relax [size 3..20000 [tolerance]]\n", stderr), 2;
    grid field(size);
    double residual = 0;
    do {
        while (sweep(field, sweeps++, tolerance) > 0) {
        }
        residual = field.check(tolerance);
    } while (residual > tolerance && sweeps < 20000);
    clocked_print(&sweep_time);
    clocked_print(&check_time);
    bool right = residual <= tolerance;
    std::printf("sweeps %d, defect %.3g\nverified: %s\n", sweeps, residual, right ? "yes" : "NO");
    return right ? 0 : 1;
}
