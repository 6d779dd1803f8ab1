"""Ten questions, two of them numbers, three crosses; people with answers; and what their tables must show."""

import numpy as np

from fldp import Survey
from fldp.data.comparison import z_score

LABELS = ["never", "seldom", "often", "always"]
CROSSES = [["q0", "q1"], ["q2", "q3"], ["q4", "load"]]
MISS = 1e-6  # how often an honest run fails, over all cells of all tables together


def specification(epsilon=2.0, **collect):
    """Return the survey as its file says it."""
    asked = [
        {"name": f"q{k}", "question": f"How often do you do {k}?", "labels": LABELS[: 2 + k % 3]} for k in range(8)
    ]
    asked[5]["optional"] = True
    load = {"low": 0, "high": 30, "bins": 8, "unit": "s", "apart": [0]}
    asked += [
        {"name": "load", "question": "How many seconds does it take?", "number": load},
        {
            "name": "pay",
            "question": "How much do you pay?",
            "number": {"low": 0, "high": 100, "bins": 4, "unit": "EUR"},
        },
    ]
    return {
        "name": "ten",
        "title": "Ten questions",
        "questions": asked,
        "tables": {"cross": CROSSES},
        "oracle": {"epsilon": epsilon},
        "collect": {"minimum": 10, **collect},
    }


def people(survey, count, seed):
    """Return people as mappings from questions to answers: skewed, and going together in the first cross."""
    draw = np.random.default_rng(seed)
    return [_person(survey, draw) for _ in range(count)]


def _person(survey, draw):
    answers = {}
    for place, asked in enumerate(survey.questions[:8]):
        shares = np.array([4.0, 1.0, 2.0, 1.0][: len(asked.labels)])
        answers[asked.name] = str(draw.choice(asked.labels, p=shares / shares.sum()))
        if place == 1 and answers["q0"] == "never":
            answers["q1"] = "never"
        if asked.optional and draw.random() < 0.3:
            answers[asked.name] = None
    answers["load"] = 0.0 if draw.random() < 0.3 else float(round(draw.gamma(3, 3), 1))
    return {**answers, "pay": float(round(draw.beta(2, 5) * 100, 1))}


def truth(survey, answered, names):
    """Return the table of some questions over people, counted one by one."""
    chosen = [next(each for each in survey.questions if each.name == name) for name in names]
    table = np.zeros([each.size for each in chosen])
    for answers in answered:
        table[tuple(each.value(answers[each.name]) for each in chosen)] += 1
    return table


def misses(survey, tally, answered):
    """Return the cells of all tables that lie outside of intervals that cover all of them at once."""
    tables = survey.estimate(tally)
    wanted = [*([each.name] for each in survey.questions), *CROSSES]
    cells = sum(truth(survey, [], names).size for names in wanted)
    reach = z_score(1 - MISS / cells)
    misses = []
    for names in wanted:
        real = truth(survey, answered, names)
        one = tables.estimate(names[0]) if len(names) == 1 else tables.cross(*names)
        outside = np.abs(one.counts - real) > reach * one.stderr
        misses += [(names, cell.tolist(), one.counts[tuple(cell)], real[tuple(cell)]) for cell in np.argwhere(outside)]
    return misses


def asked(**collect):
    """Return the survey, with rules of collecting of one's own."""
    return Survey.from_dict(specification(**collect))
