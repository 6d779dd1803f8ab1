"""What a command is about: the oracle or survey that its options name, and the files of reports that it reads."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from fldp.cli.oracle_options import build_oracle, flag_of
from fldp.data.estimate import Estimate
from fldp.data.fingerprints import as_candidates
from fldp.data.reports import Reports, Tally
from fldp.errors import ParameterError
from fldp.oracles.base.frequency_oracle import FrequencyOracle
from fldp.oracles.base.oracle import Oracle
from fldp.oracles.base.string_oracle import listed
from fldp.support.progress import progress
from fldp.survey.question import Question
from fldp.survey.survey import Survey
from fldp.wire import files
from fldp.wire.cells import read_candidates

if TYPE_CHECKING:
    from fldp.oracles.sampled.tables import Tables


@dataclass(frozen=True)
class Subject:
    """The oracle that a command is about, its survey, and the candidates of an oracle over strings."""

    oracle: Oracle
    survey: Survey | None = None
    candidates: tuple[str, ...] | None = None

    def among(self, path: str | None) -> "Subject":
        """Return this subject with the candidates in a file, for an oracle over strings."""
        if path is None:
            return self
        from fldp.oracles.base.analysis import analysis

        if analysis(self.oracle).domain_size is not None:
            raise ParameterError(f"fldp: --candidates is for oracles over strings, got {self.oracle!r}")
        return replace(self, candidates=as_candidates("fldp", read_candidates(path)))

    @property
    def chosen(self) -> Oracle:
        """The oracle, among candidates where there are any."""
        return self.listed if self.candidates else self.oracle

    @property
    def listed(self) -> FrequencyOracle:
        """The oracle over values that can be listed: one over strings among its candidates."""
        return listed("fldp", self.oracle, self.candidates)

    @property
    def question(self) -> Question:
        """The oracle with the labels of the survey; candidates are labels, too."""
        if self.candidates:
            return Question(self.listed, self.candidates)
        return self.survey.asked if self.survey else Question(self.oracle)

    def estimate(self, tally: Tally | Reports, **options: object) -> Estimate:
        """Estimate the counts of the labels, or of the candidates."""
        question = self.survey.asked if self.survey else Question(self.oracle)
        return question.estimate(tally, **options, **({"candidates": self.candidates} if self.candidates else {}))

    def tables(self, tally: Tally | Reports) -> "Tables | None":
        """Estimate the tables of several questions; None where one is asked."""
        from fldp.oracles.base.analysis import analysis

        if analysis(self.oracle).answers is None or (self.survey and self.survey.number):
            return None
        from fldp.oracles.sampled.tables import Tables

        tables: object = self.survey.estimate(tally) if self.survey else self.oracle.estimate(tally)
        assert isinstance(tables, Tables)
        return tables

    @property
    def version(self) -> str | None:
        """The version of the survey."""
        return self.survey.version if self.survey else None

    @property
    def card(self) -> Survey | Oracle:
        """What a privacy card is about: the survey, among the candidates if there are any, or the oracle."""
        from fldp.oracles.base.analysis import analysis

        if self.survey is None:
            return self.oracle if analysis(self.oracle).answers else self.listed
        if self.candidates is None:
            return self.survey
        return replace(self.survey, oracle=self.listed, labels=self.candidates)


def expected(subject: Subject | None) -> tuple[Oracle | None, str | None]:
    """Return the oracle and the survey version that files must be of; None where any will do."""
    return (subject.oracle, subject.version) if subject else (None, None)


def read_tally(file: str, subject: Subject | None) -> files.Content:
    """Read a file of reports, or a tally, of the subject if there is one."""
    oracle, version = expected(subject)
    with progress("reading", files.size_of([file])) as advance:
        return files.read(file, oracle, version, advance)


def read_reports(file: str, subject: Subject | None) -> Tally | Reports:
    """Read the reports of a file, or the tally that it holds."""
    oracle, version = expected(subject)
    with progress("reading", files.size_of([file])) as advance:
        return files.read_reports(file, oracle, version, advance)


def subject_of(survey: Path | None, oracle: str | None, **parameters: object) -> Subject | None:
    """Build the subject of the options that were given; None if none was."""
    chosen = {name: value for name, value in parameters.items() if value is not None and value is not False}
    if survey is not None:
        if oracle is not None or chosen:
            raise ParameterError("fldp: give --survey, or --oracle with its parameters, not both")
        loaded = Survey.load(survey)
        return Subject(loaded.oracle, loaded)
    if oracle is None:
        if chosen:
            raise ParameterError(f"fldp: {flag_of(next(iter(chosen)))} needs --oracle")
        return None
    return Subject(build_oracle(oracle, chosen))
