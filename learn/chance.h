/* Limits of what chance does: of a share of errors, of a mean. All by the incomplete beta function. */
#ifndef BLAME_LEARN_CHANCE_H
#define BLAME_LEARN_CHANCE_H

/* The share of errors that would give `errors` or fewer among `count` with the probability `tail`: a one-sided limit from above, exact by the binomial
 * distribution; both may be fractions. */
double chance_upper(double errors, double count, double tail);
double chance_lower(double errors, double count, double tail);

/* The probability that Student's t with so much freedom is beyond `t`, on one side; and the t of a probability (below one half). */
double chance_student_tail(double t, double freedom);
double chance_student(double tail, double freedom);

#endif
