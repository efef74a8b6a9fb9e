#include "learn/chance.h"

#include <math.h>

#define STEPS   200
#define EXACT   1e-15
#define SMALLEST 1e-300
#define LARGEST_T 1e9

static double not_nothing(double value)
{
    return fabs(value) < SMALLEST ? SMALLEST : value;
}

/* The continued fraction of I_x(a, b), by Lentz's method; it converges fast for x below (a + 1) / (a + b + 2). */
static double fraction(double x, double a, double b)
{
    double c = 1, d = 1 / not_nothing(1 - (a + b) * x / (a + 1)), value = d;
    for (int m = 1; m <= STEPS; m++) {
        for (int half = 0; half < 2; half++) {
            double term = half ? -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)) : m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
            d = 1 / not_nothing(1 + term * d);
            c = not_nothing(1 + term / c);
            value *= c * d;
        }
        if (fabs(c * d - 1) < EXACT)
            break;
    }
    return value;
}

static double incomplete_beta(double x, double a, double b)
{
    if (x <= 0 || x >= 1)
        return x > 0;
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    return x < (a + 1) / (a + b + 2) ? front * fraction(x, a, b) / a : 1 - front * fraction(1 - x, b, a) / b;
}

/* P(X <= errors) = I(1 - p; count - errors, errors + 1), which falls with p. */
double chance_upper(double errors, double count, double tail)
{
    double low = 0, high = 1;
    if (count <= 0 || errors >= count)
        return 1;
    for (int i = 0; i < STEPS / 2; i++) {
        double middle = 0.5 * (low + high);
        if (incomplete_beta(1 - middle, count - errors, errors + 1) > tail)
            low = middle;
        else
            high = middle;
    }
    return 0.5 * (low + high);
}

double chance_lower(double errors, double count, double tail)
{
    return errors <= 0 ? 0 : 1 - chance_upper(count - errors, count, tail);
}

double chance_student_tail(double t, double freedom)
{
    double tail = 0.5 * incomplete_beta(freedom / (freedom + t * t), 0.5 * freedom, 0.5);
    return t < 0 ? 1 - tail : tail;
}

double chance_student(double tail, double freedom)
{
    double low = 0, high = 1;
    while (high < LARGEST_T && chance_student_tail(high, freedom) > tail)
        high *= 2;
    for (int i = 0; i < STEPS / 2; i++) {
        double middle = 0.5 * (low + high);
        if (chance_student_tail(middle, freedom) > tail)
            low = middle;
        else
            high = middle;
    }
    return 0.5 * (low + high);
}
