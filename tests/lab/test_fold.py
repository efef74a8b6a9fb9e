"""Folding by made traces: functions are found in their parts, bands hold what they say, and what is left out is counted."""

import unittest
from unittest import mock

import lab
import numpy
from blame_lab import fold, fold_picture, fold_text
from blame_lab.command import Refused

PERIOD, LENGTH = 0.005, 0.01  # two samples of a thread in a step
PARTS = (("f", 0, 0.3, 2), ("g", 0.3, 0.8, 1), ("h", 0.8, 1, 2))  # name, begin, end, threads at work of two


def made(chance, count, lengths=None, work=None, window=(0, numpy.inf), phase="step", calls=1):
    """Answers of blame: two threads, steps with pauses between; work(step, part): whether thread 1 works there, unless PARTS says so."""
    lengths = numpy.full(count, LENGTH) if lengths is None else lengths
    begins = 0.1 + numpy.concatenate([[0], numpy.cumsum(lengths[:-1] + 0.003)])
    rows = ["phase,instance,begin,seconds,calls"] + [f"{phase},{at},{begin:.9f},{length:.9f},{calls}" for at, (begin, length) in enumerate(zip(begins, lengths))]
    lines = []
    for thread in (0, 1):
        periods = numpy.arange(0, begins[-1] + lengths[-1] + 0.1, PERIOD)
        for time in periods + PERIOD * chance.random(len(periods)):
            step = numpy.searchsorted(begins, time, "right") - 1
            part = (time - begins[step]) / lengths[step] if step >= 0 else 2
            name = next((name for name, begin, end, threads in PARTS if begin <= part < end and (thread == 0 or (threads == 2 if work is None else work(step, part)))), None)
            if window[0] <= time < window[1]:
                path = f"{name}:a b.c:3:0x1;main:m.c:1:0x2;[{step}]:?:0:0x0;phase {phase.replace(';', chr(92) + 'x3b')}:m.c:2:0x3" if name else "main:m.c:1:0x2" if not thread else ""
                lines.append(f"{time:.6f}\t0\t{thread}\t{'work' if path else 'idle'}\t{path}")
    return "".join(line + "\n" for line in lines), "".join(row + "\n" for row in rows)


def folded(answers, phase=None, outliers=False):
    with mock.patch.object(fold, "ask", lambda command, *_: answers[command == "report"]), mock.patch.object(fold, "is_job", lambda _: False):
        return fold.Fold("d", {"phase": phase, "outliers": outliers})


class Folds(unittest.TestCase):
    def test_functions_are_in_their_parts_and_times_add_up(self):
        found = folded(made(numpy.random.default_rng(1), 600))
        names = [name for name, _ in found.samples.functions]
        for name, begin, end, threads in PARTS:
            work = found.work[names.index(name), :, 0]
            outside = work.sum() - work[int(begin * 120 + 0.5):int(end * 120 + 0.5)].sum()
            self.assertLessEqual(outside, 0.001 * work.sum(), name)
            self.assertAlmostEqual(work.sum(), 600 * LENGTH * threads * (end - begin), delta=0.05 * 600 * LENGTH)
        self.assertAlmostEqual(found.seconds.sum(), 2 * 600 * LENGTH, delta=0.02 * 2 * 600 * LENGTH)
        self.assertGreater(found.idleness[names.index("g")].sum(), 0.98 * found.idleness.sum())
        self.assertEqual([found.samples.functions[at][0] for _, _, at in found.stretches()], ["f", "g", "h"])
        rows = fold_text.csv_of(found, 10).splitlines()
        self.assertTrue(rows[0].startswith("bin,begin,end,id,name,work,idleness,lock_wait,"))
        self.assertEqual(len({row.count(",") for row in rows}), 1)
        self.assertIn("</svg>", fold_picture.draw(found, 10))

    def test_bands_hold_what_is_true(self):
        """Of thread 1's work, which half of the steps have in all parts; a band of 95 % by so many steps holds it in some more than 90 %."""
        chance, held, tried = numpy.random.default_rng(2), 0, 0
        for _ in range(lab.seeds(6)):
            idle = chance.random(400) < 0.5
            found = folded(made(chance, 400, work=lambda step, part, idle=idle: not idle[step]))
            true = 1.5 * 400 * LENGTH / 120
            inside = (found.low[:, 0] <= true) & (true <= found.high[:, 0])
            held, tried = held + inside[1:-1].sum(), tried + 118
        lab.say(f"{held / tried:.1%} of {tried} bands hold the true work")
        self.assertTrue(0.88 <= held / tried <= 0.985, held / tried)

    def test_unusual_lengths_are_apart_and_few_usual_ones(self):
        chance = numpy.random.default_rng(3)
        lengths = LENGTH * numpy.exp(0.05 * chance.standard_normal(400))
        lengths[[7, 99, 300]] *= (3, 0.4, 2)
        for outliers, count in ((False, 397), (True, 3)):
            self.assertEqual(len(folded(made(chance, 400, lengths), outliers=outliers).kept), count)
        self.assertIn("Excluded: 3 of unusual length", fold_text.counts_of(folded(made(chance, 400, lengths))))
        self.assertTrue(fold.usual_lengths(numpy.array([1.0, 9, 100])).all())
        false = sum((~fold.usual_lengths(numpy.exp(0.2 * chance.standard_normal(100)))).mean() for _ in range(lab.seeds(200))) / lab.seeds(200)
        self.assertLessEqual(false, 0.01)

    def test_what_is_not_in_the_trace_or_not_one_execution_is_left_out(self):
        found = folded(made(numpy.random.default_rng(4), 300, window=(1.0, 2.0)))
        self.assertTrue(70 <= len(found.kept) <= 78 and found.unseen + len(found.kept) + len(found.apart) == 300, (len(found.kept), found.unseen))
        found = folded(made(numpy.random.default_rng(5), 30, calls=2))
        self.assertEqual((len(found.kept), found.several), (0, 60))

    def test_which_phase(self):
        answers = made(numpy.random.default_rng(6), 30, phase="a;b")
        self.assertEqual(len(folded(answers).kept), 30)
        with self.assertRaisesRegex(Refused, "no such numbered phase; expected one of a;b$"):
            folded(answers, "step")
        with self.assertRaisesRegex(Refused, "has 2 numbered phases; select one with --phase: a;b, c$"):
            folded((answers[0], answers[1] + "c,0,1,1,1\n"))
        with self.assertRaisesRegex(Refused, "has no numbered phase"):
            folded((answers[0], "phase,instance,begin,seconds,calls\nsolve,,1,1,1\n"))


if __name__ == "__main__":
    unittest.main()
