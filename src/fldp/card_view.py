"""A card as people and machines see it: text, JSON, a page, a picture."""

import io
import json
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from math import exp
from pathlib import Path
from typing import Any

from fldp.constraints import one_of
from fldp.extras import load
from fldp.files import written
from fldp.plot import COLOURS, FAINT, INK, figure, figures, save
from fldp.privacy.card import LEVEL, MOST_REPEATS, Card, Deal
from fldp.privacy.notions import declared
from fldp.wire import describe

_LINE = 0.21  # inches


@dataclass(frozen=True)
class Section:
    """A heading and what stands below it."""

    heading: str
    lines: tuple[str, ...]


def title(card: Card) -> str:
    """Return what the card is about."""
    if card.survey is not None:
        return card.survey.title or card.survey.question
    return f"{card.oracle.title}, {card.oracle.domain_size:,} values"


def sections(card: Card) -> list[Section]:
    """Return what the card says, in plain words."""
    return [
        Section("What your report says for certain", _certain(card)),
        Section("What somebody can guess from it", _guessed(card)),
        Section("If you answered again and again", _repeated(card)),
        Section("The two numbers", _numbers(card)),
        Section("What the answers of all are good for", _accuracy(card)),
        Section("Plain local privacy that is as exact", _plain(card)),
    ]


def _certain(card: Card) -> tuple[str, ...]:
    size = card.oracle.domain_size
    if not card.certain:
        return (f"Nothing. Each of the {size:,} answers could have given your report.",)
    mean, least = f"{float(card.left[1]):,.4g}", f"{card.least_left:,}"
    left = f"{least} possible" if mean == least else f"{mean} possible on average, and at least {least}"
    if card.oracle.eta == 0:
        said = "In which group your answer is. This is weak: answers in different groups are not protected at all."
    else:
        said = "That some answers are not yours, whatever epsilon is."
    return said, f"Of {size:,} answers it leaves {left}."


def _guessed(card: Card) -> tuple[str, ...]:
    guess = card.guess
    return (
        f"Without your report, the best guess of your answer is right in {_percent(guess.before)} of all cases. "
        f"With it, in {_percent(guess.after)}: {guess.gain:.2g} times as often.",
    )


def _repeated(card: Card) -> tuple[str, ...]:
    return "Your device answers once and repeats that same answer, which tells nothing new.", _fresh(card)


def _fresh(card: Card) -> str:
    median, most = card.repeats.within(0.5), card.repeats.within(0.99)
    if median is not None:
        often = f", and {most} in 99 of 100 cases" if most is not None else ""
        return f"{median} fresh answers would leave only yours possible in half of all cases{often}, at any epsilon."
    if card.fresh_for_half is not None:
        return f"After {card.fresh_for_half} fresh answers, the best guess would be right in half of all cases."
    success = _percent(float(card.averaging.success[-1]))
    return f"After {MOST_REPEATS} fresh answers, the best guess would be right in {success} of all cases."


def _numbers(card: Card) -> tuple[str, ...]:
    oracle = card.oracle
    among = "Among the answers that it does not rule out, a" if card.certain else "A"
    ratio = f"report is at most {exp(oracle.epsilon):.3g} times as likely for one answer as for another."
    return (
        f"epsilon {oracle.epsilon:g}. {among} {ratio}",
        f"eta {oracle.eta}. {_eta(card)}",
        f"Promised: {_promise(card)}.",
    )


def _promise(card: Card) -> str:
    return str(declared(card.oracle))


def _eta(card: Card) -> str:
    if card.oracle.eta == 1:
        return "Any two answers can give all the same reports. This is plain local differential privacy."
    if card.oracle.eta == 0:
        return "Some answers have no report in common. This is weak, and much weaker than local differential privacy."
    share = (
        f"Any two answers have {card.oracle.eta} of their reports in common; the others tell them apart for certain."
    )
    return f"{share} 1 would be plain local differential privacy; this is weaker."


def _accuracy(card: Card) -> tuple[str, ...]:
    known = f"of {card.users:,} answers, the share of a rare one is known to within"
    return tuple(_said(deal, f"{known} {_percent(deal.reach)} ({100 * LEVEL:.0f} % interval).") for deal in card.deals)


def _plain(card: Card) -> tuple[str, ...]:
    said = [_said(deal, _comparison(card, deal)) for deal in card.deals]
    return (*said, "Plain local privacy rules nothing out.") if card.certain else tuple(said)


def _comparison(card: Card, deal: Deal) -> str:
    if deal.plain_epsilon is None or deal.plain_guess is None:
        return "there is none."
    gain, ours = deal.plain_guess.gain, card.guess.gain
    better = (
        "about as often as"
        if abs(gain - ours) < 0.05 * ours
        else ("more often than" if gain > ours else "less often than")
    )
    return (
        f"epsilon {deal.plain_epsilon:.3g} (OUE). With it, the best guess is right {gain:.2g} times as often as "
        f"without a report: {better} with yours here."
    )


_DECODERS = {"full": "Decoded in full", "paper": "Decoded as in the paper"}


def _said(deal: Deal, text: str) -> str:
    """Return a sentence that begins with the decoder, if there are several."""
    if deal.decoder is None:
        return text[0].upper() + text[1:]
    return f"{_DECODERS.get(deal.decoder, deal.decoder)}: {text}"


def _percent(share: float) -> str:
    return f"{100 * share:.3g}\N{NO-BREAK SPACE}%"


def as_text(card: Card, width: int = 88) -> str:
    """Return the card as text."""
    lines = [title(card), "=" * min(width, len(title(card)))]
    for section in sections(card):
        lines += ["", section.heading, *_wrapped(section, width)]
    return "\n".join(lines).replace("\N{NO-BREAK SPACE}", " ") + "\n"


def _wrapped(section: Section, width: int) -> list[str]:
    return [part for line in section.lines for part in textwrap.wrap(f"  {line}", width, subsequent_indent="  ")]


def as_json(card: Card) -> str:
    """Return the numbers of the card, and its words, as JSON."""
    return json.dumps(facts(card), ensure_ascii=False, indent=1) + "\n"


def facts(card: Card) -> dict[str, Any]:
    """Return the numbers of the card, and its words."""
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
        "known": {"median": card.repeats.within(0.5), "within_99": card.repeats.within(0.99)},
        "fresh_reports": {
            "reports": card.averaging.reports.tolist(),
            "guess": card.averaging.success.tolist(),
            "stderr": card.averaging.stderr.tolist(),
        },
        "decoders": [_deal_facts(deal) for deal in card.deals],
        "words": {section.heading: list(section.lines) for section in sections(card)},
    }


def _deal_facts(deal: Deal) -> dict[str, Any]:
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
h1 {{ font-size: 1.5rem; line-height: 1.25; }}
h2 {{ font-size: 1rem; margin: 1.4rem 0 0.2rem; }}
p {{ margin: 0.2rem 0; }}
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
    """Return the card as a page that needs nothing else; the picture needs the extra ``plot``."""
    body = "\n".join(
        f"<h2>{escape(section.heading)}</h2>\n" + "\n".join(f"<p>{escape(line)}</p>" for line in section.lines)
        for section in sections(card)
    )
    return _PAGE.format(
        title=escape(title(card)),
        body=body,
        alternative=escape(_alternative(card)),
        picture="\n".join(_svg(card, draw) for draw in (draw_shrinking, draw_guessing)),
        footer=escape(" ".join(f"{name} {value}" for name, value in describe(card.oracle).items())),
    )


def _alternative(card: Card) -> str:
    shrinking = ", ".join(f"{float(card.left[k]):,.4g} after {k}" for k in (0, 1, 2, 4, 8))
    return f"Answers left possible by fresh reports: {shrinking}. Repeating the same report leaves as many as one."


def _svg(card: Card, draw: Callable[[Card, Any], None]) -> str:
    buffer = io.BytesIO()
    drawn, axes = figure(4.6, 3.4)
    draw(card, axes)
    with load("matplotlib", "plot").rc_context({"svg.hashsalt": draw.__name__}):  # or two on a page share names
        drawn.savefig(buffer, format="svg", metadata={"Date": None})
    text = buffer.getvalue().decode()
    return text[text.index("<svg") :]


def draw_shrinking(card: Card, axes: Any) -> None:
    """Draw the mean number of answers left possible against the number of reports."""
    colour = COLOURS.get(card.oracle.name, INK)
    shown = range(min(MOST_REPEATS, 2 * card.oracle.domain_size.bit_length()) + 1)
    left = [float(card.left[k]) for k in shown]
    axes.plot(shown, left, "o-", color=colour, markersize=3, label="fresh answers")
    axes.plot(shown, [left[min(k, 1)] for k in shown], "--", color=INK, linewidth=1.2, label="the same answer repeated")
    axes.set(yscale="log", ylim=(0.8, 1.5 * card.oracle.domain_size), xlabel="reports of one person")
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.yaxis.set_major_formatter(lambda count, _: f"{count:,.0f}")
    axes.yaxis.set_minor_formatter(lambda *_: "")
    axes.set_title(f"Answers left possible, of {card.oracle.domain_size:,}", loc="left", fontsize=10, color=INK)
    axes.legend(frameon=False, fontsize=8.5)


def draw_guessing(card: Card, axes: Any) -> None:
    """Draw how often the best guess is right against the number of reports."""
    made, colour = card.averaging, COLOURS.get(card.oracle.name, INK)
    axes.plot(made.reports, made.success, "o-", color=colour, markersize=3, label="fresh answers")
    axes.axhline(card.guess.before, color=FAINT, linewidth=3.0, label="no report", zorder=1)
    axes.axhline(card.guess.after, color=INK, linestyle="--", linewidth=1.2, label="the same answer repeated")
    axes.set(xscale="log", ylim=(-0.02, 1.04), xlabel="reports of one person")
    axes.set_xticks([1, 2, 4, 8, 16, 32, 64], ["1", "2", "4", "8", "16", "32", "64"])
    axes.set_xticks([], minor=True)
    axes.yaxis.set_major_formatter(lambda share, _: f"{100 * share:.0f} %")
    axes.set_title("The best guess is right in", loc="left", fontsize=10, color=INK)
    axes.legend(frameon=False, fontsize=8.5)


def check_ending(path: Path) -> None:
    """Refuse a name by which a card cannot be saved."""
    one_of(".html", ".png", ".svg")("card", f"the ending of {path}", path.suffix.lower())


def save_card(card: Card, path: Path) -> None:
    """Save the card as a page or a picture, by the ending of the name: .html, .png or .svg."""
    check_ending(path)
    if path.suffix.lower() == ".html":
        with written(str(path)) as file:
            file.write(as_html(card).encode())
        return
    save(_poster(card), path)


def _poster(card: Card) -> Any:
    """Draw the whole card: its words, and the picture below them."""
    lines = [(textwrap.shorten(title(card), 70, placeholder=" ..."), {"fontsize": 14, "weight": "bold"}), ("", {})]
    for section in sections(card):
        lines += [(section.heading, {"weight": "bold"}), *((line, {}) for line in _wrapped(section, 116)), ("", {})]
    height = _LINE * len(lines) + 4.0
    drawn, (shrinking, guessing) = figures(9.0, height, 2, above=_LINE * len(lines) + 0.4)
    draw_shrinking(card, shrinking)
    draw_guessing(card, guessing)
    for number, (line, style) in enumerate(lines):
        place = 1 - (0.2 + _LINE * number) / height
        drawn.text(0.025, place, line, va="top", **{"fontsize": 10, "color": INK, **style})
    return drawn
