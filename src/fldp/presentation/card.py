"""A privacy card: text, JSON, a page, a picture."""

import io
import json
import textwrap
from collections.abc import Callable
from dataclasses import dataclass, field
from html import escape
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from fldp.oracles.base.memoization import following
from fldp.oracles.base.oracle import Oracle
from fldp.oracles.shuffle_privacy import Shuffled
from fldp.presentation.card_text import Section, mean_left, sections, title
from fldp.presentation.parties import Rows
from fldp.presentation.plot import FAINT, INK, Axes, Figure, colour_of, figure, figures, literal, save
from fldp.privacy.elimination_attack import Repeats
from fldp.privacy.notions import declared
from fldp.privacy.privacy_card import MAX_REPEATS, Card, Deal
from fldp.support.atomic_files import open_output
from fldp.support.canonical_json import Json
from fldp.support.optional_imports import load
from fldp.support.validation import one_of
from fldp.wire.description import describe


def as_text(card: Card, width: int = 88) -> str:
    """Return the card as text."""
    heading = textwrap.wrap(title(card), width)
    lines = [*heading, "=" * max(map(len, heading))]
    for section in sections(card):
        lines += ["", section.heading, *_wrapped(section, width)]
    return "\n".join(lines).replace("\N{NO-BREAK SPACE}", " ") + "\n"


def _wrapped(section: Section, width: int) -> list[str]:
    return [part for line in section.spoken for part in textwrap.wrap(f"  {line}", width, subsequent_indent="  ")]


def as_json(card: Card) -> str:
    """Return the numbers and the text of the card as JSON."""
    return json.dumps(facts(card), ensure_ascii=False, indent=1) + "\n"


def facts(card: Card) -> dict[str, Json]:
    """Return the numbers and the text of the card."""
    guess, oracle = card.guess, card.oracle
    return {
        "title": title(card),
        "survey": card.survey.version if card.survey else None,
        "oracle": describe(oracle),
        "epsilon": oracle.epsilon,
        "eta": float(oracle.eta),
        "notion": str(declared(oracle)),
        "users": card.users,
        "domain_size": oracle.domain_size,
        "least_left": card.least_left,
        "mean_left": [float(left) for left in card.left],
        "guess": {"before": guess.before, "after": guess.after, "exact": guess.exact, "stderr": guess.stderr},
        "known": _known_facts(card.repeats),
        "fresh_reports": {
            "reports": card.averaging.reports.tolist(),
            "guess": card.averaging.success.tolist(),
            "stderr": card.averaging.stderr.tolist(),
            "trials": card.averaging.trials,
        },
        "decoders": [_deal_facts(deal) for deal in card.deals],
        "crowd": None if card.crowd is None else crowd_facts(card.crowd),
        **_following_facts(card.oracle),
        "words": {section.heading: list(section.spoken) for section in sections(card)},
    }


def _following_facts(oracle: Oracle) -> dict[str, Json]:
    """Return what all reports give away together, where they follow a value that changes, and how a change shows."""
    stages = following(oracle)
    if stages is None:
        return {}
    return {
        "following": {
            "epsilon_permanent": stages.steady_epsilon,
            "lasting_epsilon": stages.lasting_epsilon,
            "change_visible": float(stages.change_visible),
        }
    }


def crowd_facts(crowd: Shuffled) -> dict[str, Json]:
    """Return what a crowd adds, in numbers."""
    return {
        "epsilon": crowd.epsilon,
        "delta": crowd.delta,
        "reports": crowd.reports,
        "honest": crowd.honest,
        "gamma": crowd.gamma,
    }


def _known_facts(repeats: Repeats) -> dict[str, Json]:
    return {
        "median": repeats.within(0.5),
        "within_99": repeats.within(0.99),
        "exact": repeats.exact,
        "trials": repeats.trials,
    }


def _deal_facts(deal: Deal) -> dict[str, Json]:
    plain = deal.plain_guess
    return {
        "decoder": deal.decoder,
        "reach": deal.reach,
        "plain_epsilon": deal.plain_epsilon,
        "plain_guess": plain.after if plain else None,
        "plain_guess_stderr": plain.stderr if plain else None,
    }


_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 42rem; margin: 2rem auto; padding: 0 1rem; }}
h1 {{ font-size: 1.5rem; line-height: 1.25; overflow-wrap: anywhere; }}
h2 {{ font-size: 1rem; margin: 1.4rem 0 0.2rem; }}
p {{ margin: 0.2rem 0; }}
table {{ width: 100%; border-collapse: collapse; font-size: 0.9rem; }}
th, td {{ padding: 0.3rem 0.5rem 0.3rem 0; border-bottom: 1px solid GrayText; text-align: left; vertical-align: top; }}
figure {{ display: grid; grid-template-columns: repeat(auto-fit, minmax(17rem, 1fr)); margin: 1.6rem 0;
  background: #fff; border-radius: 6px; padding: 0.5rem; }}
svg {{ width: 100%; height: auto; }}
footer {{ color: GrayText; font-size: 0.85rem; }}
</style>
<main>
<h1>{title}</h1>
{body}
<figure role="img" aria-label="{alternative}">{picture}</figure>
<footer><p>{footer}</p></footer>
</main>
</html>
"""


def as_html(card: Card) -> str:
    """Return the card as a self-contained page; the picture needs the extra ``plot``."""
    return _PAGE.format(
        title=escape(title(card)),
        body=_body(card, "h2"),
        alternative=escape(_alternative(card)),
        picture="\n".join(_svg(card, draw) for draw in (draw_shrinking, draw_guessing)),
        footer=escape(", ".join(f"{name} {value}" for name, value in describe(card.oracle).items())),
    )


def _body(card: Card, heading: str) -> str:
    return "\n".join(
        f"<{heading}>{escape(section.heading)}</{heading}>\n"
        + _table(section.table)
        + "\n".join(f"<p>{escape(line)}</p>" for line in section.lines)
        for section in sections(card)
    )


def _table(rows: Rows) -> str:
    """Return a table; its first row and its first column are headings."""
    if not rows:
        return ""
    head = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in rows[0])
    lines = (
        f'<tr><th scope="row">{escape(who)}</th>{"".join(f"<td>{escape(cell)}</td>" for cell in cells)}</tr>'
        for who, *cells in rows[1:]
    )
    return f"<table>\n<tr>{head}</tr>\n" + "\n".join(lines) + "\n</table>\n"


def as_fragment(card: Card) -> str:
    """Return the card for a notebook: its words, and its pictures where matplotlib is installed."""
    return (
        f'<div style="max-width:44rem">\n<h3>{escape(title(card))}</h3>\n{_body(card, "h4")}\n{_pictures(card)}</div>'
    )


def _pictures(card: Card) -> str:
    if find_spec("matplotlib") is None:
        return ""
    wide = '<svg style="width:100%;height:auto"'
    every = (_svg(card, draw).replace("<svg", wide, 1) for draw in (draw_shrinking, draw_guessing))
    drawn = (f'<div style="flex:1 1 17rem;min-width:0">{picture}</div>' for picture in every)
    box = "display:flex;flex-wrap:wrap;background:#fff;border-radius:6px;padding:0.5rem"
    return f'<div role="img" aria-label="{escape(_alternative(card))}" style="{box}">{"".join(drawn)}</div>\n'


def _alternative(card: Card) -> str:
    shrinking = ", ".join(f"{mean_left(card, k)} after {k}" for k in (0, 1, 2, 4, 8))
    return f"Answers left possible by fresh reports: {shrinking}. Repeating the same report leaves as many as one."


def _svg(card: Card, draw: Callable[[Card, Axes], None]) -> str:
    buffer = io.BytesIO()
    drawn, axes = figure(4.6, 4.0)
    draw(card, axes)
    with load("matplotlib", "plot").rc_context({"svg.hashsalt": draw.__name__}):  # or two on a page share names
        drawn.savefig(buffer, format="svg", metadata={"Date": None})
    text = buffer.getvalue().decode()
    return text[text.index("<svg") :]


def draw_shrinking(card: Card, axes: Axes) -> None:
    """Draw the mean number of answers left possible against the number of reports."""
    colour = colour_of(card.oracle.name)
    shown = range(min(MAX_REPEATS, 2 * card.oracle.domain_size.bit_length()) + 1)
    left = [float(card.left[k]) for k in shown]
    axes.plot(shown, left, "o-", color=colour, markersize=3, label="fresh answers")
    axes.plot(shown, [left[min(k, 1)] for k in shown], "--", color=INK, linewidth=1.2, label="the same answer repeated")
    axes.set(yscale="log", ylim=(0.8, 1.5 * card.oracle.domain_size), xlabel="reports of one person")
    locator: Any = axes.xaxis.get_major_locator()
    locator.set_params(integer=True)
    ticks = _ticks(card.oracle.domain_size)
    axes.set_yticks(ticks, [f"{count:,}" for count in ticks])
    axes.set_yticks([], minor=True)
    axes.set_title(f"Answers left possible, of {card.oracle.domain_size:,}", loc="left", fontsize=10, color=INK)
    _legend(axes)


def _ticks(most: int) -> list[int]:
    """Return round numbers below ``most`` and that one itself, for a logarithmic axis.

    >>> _ticks(4), _ticks(1023)
    ([1, 2, 4], [1, 10, 100, 1023])
    """
    steps = (1, 2, 5) if most <= 1000 else (1,)
    rounded = [step * 10**k for k in range(len(str(most))) for step in steps]
    return [*(number for number in rounded if 1.3 * number <= most), most]  # nearer ones would overlap it


def _legend(axes: Axes) -> None:
    """Put the legend below the panel, where no line can run through it."""
    axes.legend(frameon=False, fontsize=8.5, loc="upper left", bbox_to_anchor=(-0.02, -0.15), borderaxespad=0)


def draw_guessing(card: Card, axes: Axes) -> None:
    """Draw how often the best guess is right against the number of reports."""
    averaging, colour = card.averaging, colour_of(card.oracle.name)
    axes.plot(averaging.reports, averaging.success, "o-", color=colour, markersize=3, label="fresh answers")
    axes.axhline(card.guess.before, color=FAINT, linewidth=3.0, label="no report", zorder=1)
    axes.axhline(card.guess.after, color=INK, linestyle="--", linewidth=1.2, label="the same answer repeated")
    axes.set(xscale="log", ylim=(-0.02, 1.04), xlabel="reports of one person")
    axes.set_xticks([1, 2, 4, 8, 16, 32, 64], ["1", "2", "4", "8", "16", "32", "64"])
    axes.set_xticks([], minor=True)
    axes.yaxis.set_major_formatter(lambda share, _: f"{100 * share:.0f} %")
    axes.set_title("The best guess is right in", loc="left", fontsize=10, color=INK)
    _legend(axes)


def check_ending(path: Path) -> None:
    """Refuse a name whose ending is no format of a card."""
    one_of(".html", ".png", ".svg")("card", f"the ending of {path}", path.suffix.lower())


def save_card(card: Card, path: Path) -> None:
    """Save the card as a page or a picture, by the ending of the name: .html, .png or .svg."""
    check_ending(path)
    if path.suffix.lower() == ".html":
        with open_output(str(path)) as file:
            file.write(as_html(card).encode())
        return
    save(_poster(card), path)


def _poster(card: Card) -> Figure:
    """Draw the whole card: its text, and the picture below."""
    lines = [*_heading(card), *(line for section in sections(card) for line in _drawn(section))]
    words = 0.2 + sum(line.height for line in lines)
    drawn, (shrinking, guessing) = figures(9.0, words + 4.3, 2, above=words + 0.2)
    draw_shrinking(card, shrinking)
    draw_guessing(card, guessing)
    place = 0.2
    for line in lines:
        drawn.text(0.025, 1 - place / (words + 4.3), literal(line.text), va="top", color=INK, **line.style)
        place += line.height
    return drawn


@dataclass(frozen=True)
class _Line:
    """A line of text on a picture; its height is in inches."""

    text: str
    height: float = 0.21
    style: dict[str, Any] = field(default_factory=lambda: {"fontsize": 10})


def _heading(card: Card) -> list[_Line]:
    parts = textwrap.wrap(title(card), 66, max_lines=4, placeholder=" ...")
    return [*(_Line(part, 0.28, {"fontsize": 14, "weight": "bold"}) for part in parts), _Line("", 0.14)]


def _drawn(section: Section) -> list[_Line]:
    heading = _Line(section.heading, style={"fontsize": 10, "weight": "bold"})
    return [heading, *map(_Line, _wrapped(section, 116)), _Line("", 0.16)]
