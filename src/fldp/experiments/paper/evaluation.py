"""What the reproduction of the paper runs: its own evaluation, and what it takes to judge what it says."""

from dataclasses import dataclass, replace

from fldp.experiments.paper.attacks import EPSILONS, ETAS
from fldp.experiments.runner.contenders import Contender, Source, pairs
from fldp.experiments.runner.specification import EXTENDED, Specification

PUBLISHED = ("OUE", "OLH", "FHR, paper")
FOUR = EXTENDED.metrics
_MEASURED = (*FOUR, "mse", "coverage")
_USERS = (10_000, 31_623, 100_000, 316_228, 1_000_000, 3_162_278)


@dataclass(frozen=True)
class Evaluation:
    """Three experiments, and how hard the rest is looked at.

    ``main`` is the paper's evaluation, extended; ``users`` varies the number of users, ``etas`` the eta of FWR. The
    attacker sees ``draws`` reports of every oracle at each epsilon of ``attacked``, ``timed`` users are timed, and a
    simulation that a claim needs is repeated ``trials`` times.

    >>> Evaluation.of().main.cells, Evaluation.quick().main.cells
    (1620, 36)
    """

    main: Specification
    users: Specification
    etas: Specification
    attacked: tuple[float, ...] = EPSILONS
    draws: int = 5_000
    timed: int = 100_000
    trials: int = 400

    @classmethod
    def of(cls, datasets: tuple[str, ...] = (), seed: int = 0) -> "Evaluation":
        """Return the whole evaluation, on the paper's three datasets unless others are named."""
        sources = tuple(map(Source, datasets)) or EXTENDED.datasets
        main = replace(EXTENDED, datasets=sources, metrics=_MEASURED, seed=seed)
        return cls(main, _users(main, _USERS), _etas(main))

    @classmethod
    def quick(cls, datasets: tuple[str, ...] = (), seed: int = 0) -> "Evaluation":
        """Return a small one, to see that all of it works: two runs, three epsilons, on Zipf unless told."""
        whole = cls.of(datasets or ("zipf",), seed)
        main = replace(whole.main, epsilons=(0.4, 1.0, 2.0), runs=2)
        users = replace(_users(main, _USERS[:3]), runs=2)
        return cls(main, users, replace(whole.etas, runs=2), draws=1_000, trials=60)

    @property
    def epsilon(self) -> float:
        """The epsilon at which claims about one epsilon are looked at: of the main experiment's, the nearest to 1."""
        return min(self.main.epsilons, key=lambda epsilon: abs(epsilon - 1))


def _users(main: Specification, users: tuple[int, ...]) -> Specification:
    """Return an experiment on Zipf's law for growing numbers of users, at epsilon 1."""
    sources = tuple(Source("power", pairs({"users": n, "values": 1023}), label=f"{n} users") for n in users)
    return replace(main, datasets=sources, epsilons=(1.0,), runs=5, top=(20,), metrics=("ncr", "mse"))


def _etas(main: Specification) -> Specification:
    """Return an experiment with FWR at several eta, and FHR beside it, on the first dataset."""
    family = [Contender("fwr", pairs({"eta": float(eta)}), label=f"FWR, eta {eta}") for eta in ETAS]
    oracles = (*family, Contender("fhr", decoders=("paper", "full")))
    first = replace(main, datasets=main.datasets[:1], epsilons=(0.5, 1.0, 2.0))
    return replace(first, oracles=oracles, runs=5, metrics=("mse",))
