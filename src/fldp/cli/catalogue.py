"""The catalogue of commands: where each is, under which heading it is listed, and an example of its use.

``fldp --help`` lists it without loading a single command, since that takes a second.
"""

from typing import NamedTuple


class Entry(NamedTuple):
    """A command or a group of commands: its module in this package, and what it does in a line."""

    module: str
    summary: str


CATALOGUE: dict[str, dict[str, Entry]] = {
    "Surveys": {
        "survey": Entry("survey", "Write, check, publish, list, close, reopen and delete surveys."),
        "ticket": Entry("ticket", "Create personal links to a survey."),
        "plan": Entry("plan", "Compare the mechanisms for a question, and recommend one."),
        "card": Entry("privacy", "Explain in plain words what an answer gives away."),
    },
    "Reports": {
        "privatize": Entry("pipeline", "Turn values into private reports."),
        "tally": Entry("pipeline", "Add up reports."),
        "estimate": Entry("pipeline", "Estimate how many people hold each value, from a file."),
        "compare": Entry("compare", "Show what changed between two files, and what may be chance."),
        "population": Entry("population", "Estimate shares of the population that people were drawn from."),
        "merge": Entry("pipeline", "Add up tallies."),
        "inspect": Entry("pipeline", "Show what a file holds."),
        "heavy-hitters": Entry("heavy_hitters", "Find the strings that many people hold."),
    },
    "Collector": {
        "serve": Entry("serve", "Run a collector; --demo shows one with simulated people."),
        "send": Entry("remote", "Send reports to a collector."),
        "withdraw": Entry("remote", "Take back reports that were sent."),
        "estimates": Entry("remote", "Show what a collector estimates."),
        "export": Entry("remote", "Save the raw reports of a collector."),
        "token": Entry("token", "Create, list and revoke tokens."),
        "backup": Entry("serve", "Copy a collector's data into one file."),
        "restore": Entry("serve", "Restore a collector from a backup."),
        "fsck": Entry("serve", "Count everything in a collector again, and compare."),
        "relay": Entry("relay", "Carry encrypted requests to a collector, so that it sees no addresses."),
        "issuer": Entry("issuer", "Create keys that sign passes; sign passes for somebody else's collector."),
        "gateway": Entry("relay", "Change the keys that relayed requests are encrypted to."),
    },
    "Telemetry": {
        "telemetry": Entry("telemetry", "Decide on telemetry, and see all of it; declare, publish and rehearse it."),
    },
    "Privacy and attacks": {
        "verify": Entry("privacy", "Check the privacy of a mechanism, exactly."),
        "audit": Entry("privacy", "Test a client from the outside: does it keep its promise?"),
        "shuffle": Entry("shuffle", "Compute how much privacy a crowd adds against readers of totals."),
        "attack": Entry("privacy", "Measure how well an attacker guesses an answer."),
        "integrity": Entry("integrity", "Look for patterns that honest reports cannot produce."),
        "poisoning": Entry("integrity", "Measure what fake users achieve."),
    },
    "Demos and research": {
        "sample": Entry("sample", "Write made-up answers for trying the other commands."),
        "demo": Entry("pipeline", "Run the whole pipeline on the paper's population, and compare with the truth."),
        "experiment": Entry("experiment", "Run experiments on known populations; reproduce the paper."),
    },
}
PURPOSE = "Collect statistics under local differential privacy."
EPILOG = "fldp COMMAND --help explains a command. In the environment: FLDP_URL and FLDP_TOKEN for --to and --token."
DEBUG_HELP, VERSION_HELP = "Show where an error comes from.", "Print the version and exit."
OPTIONS = (  # name, short name, text; those after the first two are Typer's own
    ("--debug", "", DEBUG_HELP),
    ("--version", "", VERSION_HELP),
    ("--install-completion", "", "Install completion for the current shell."),
    ("--show-completion", "", "Show completion for the current shell, to copy it or customize the installation."),
    ("--help", "-h", "Show this message and exit."),
)
ENTRIES = {name: entry for panel in CATALOGUE.values() for name, entry in panel.items()}
PANELS = {name: heading for heading, panel in CATALOGUE.items() for name in panel}

_GRR = "--oracle grr --epsilon 1 --domain 5"
EXAMPLES = {
    "survey init": "fldp survey init values.csv --name browser -o survey.toml",
    "survey check": "fldp survey check survey.toml",
    "survey create": "fldp survey create survey.toml --to https://collector.example",
    "survey list": "fldp survey list --to https://collector.example",
    "survey show": "fldp survey show browser --version 2dff65b8 --to https://collector.example",
    "survey close": "fldp survey close browser --to https://collector.example",
    "survey reopen": "fldp survey reopen browser --to https://collector.example",
    "survey delete": "fldp survey delete browser --version 2dff65b8 --to https://collector.example",
    "ticket create": "fldp ticket create browser --count 500 --links -o links.csv --to https://collector.example",
    "plan": "fldp plan --survey survey.toml --users 10000 --target-error 0.02",
    "card": "fldp card --survey survey.toml --users 10000 -o card.html",
    "privatize": "fldp privatize values.csv --survey survey.toml -o reports.fldp",
    "tally": "fldp tally reports.fldp -o tally.fldp",
    "estimate": "fldp estimate tally.fldp --survey survey.toml --plot bars.png",
    "compare": "fldp compare monday.fldp tuesday.fldp --survey survey.toml",
    "population": "fldp population north.fldp south.fldp --weight 0.6 --weight 0.4 --survey survey.toml",
    "merge": "fldp merge one.fldp two.fldp -o both.fldp",
    "inspect": "fldp inspect tally.fldp",
    "heavy-hitters": "fldp heavy-hitters words.csv --epsilon 4 --top 20",
    "serve": "fldp serve --data collected",
    "send": "fldp send reports.fldp --to https://collector.example",
    "withdraw": "fldp withdraw reports.fldp --to https://collector.example",
    "estimates": "fldp estimates browser --to https://collector.example",
    "export": "fldp export browser -o reports.parquet --to https://collector.example",
    "token create": "fldp token create read --survey browser --to https://collector.example",
    "token list": "fldp token list --to https://collector.example",
    "token revoke": "fldp token revoke 1a2b3c --to https://collector.example",
    "backup": "fldp backup monday.backup --data collected",
    "restore": "fldp restore monday.backup --data restored",
    "fsck": "fldp fsck --data collected",
    "relay": "fldp relay --to https://collector.example",
    "issuer create": "fldp issuer create --to https://collector.example",
    "issuer tickets": "fldp issuer tickets --tickets tickets.db --count 500 -o tickets.csv",
    "issuer serve": "fldp issuer serve --key issuer.pem --tickets tickets.db",
    "gateway rotate": "fldp gateway rotate --data collected",
    "telemetry on": "fldp telemetry on --app wordy",
    "telemetry local": "fldp telemetry local --app wordy",
    "telemetry off": "fldp telemetry off",
    "telemetry env": "fldp telemetry env",
    "telemetry view": "fldp telemetry view --app wordy",
    "telemetry withdraw": "fldp telemetry withdraw --app wordy",
    "telemetry clean": "fldp telemetry clean --app wordy",
    "telemetry lint": "fldp telemetry lint metrics.toml",
    "telemetry publish": "fldp telemetry publish metrics.toml --to https://collector.example",
    "telemetry export": "fldp telemetry export metrics.toml -o metrics.json",
    "telemetry rehearse": "fldp telemetry rehearse metrics.toml --installs 300 --periods 3",
    "verify": f"fldp verify {_GRR} --claim 'LDP(1)'",
    "audit": "fldp audit --survey survey.toml --command ./client",
    "shuffle": "fldp shuffle --survey survey.toml --reports 1000000",
    "attack": "fldp attack --survey survey.toml --repeats 16",
    "integrity": "fldp integrity reports.fldp --survey survey.toml",
    "poisoning": f"fldp poisoning {_GRR} --share 0.01",
    "sample": "fldp sample -o people.csv",
    "demo": "fldp demo --epsilon 2",
    "experiment run": "fldp experiment run paper -o paper.csv",
    "experiment paper": "fldp experiment paper --quick -o figures",
    "experiment datasets": "fldp experiment datasets",
}
