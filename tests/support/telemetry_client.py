"""A telemetry client to audit: ``telemetry_client.py METRIC LABEL COUNT`` writes reports of that many installs.

Each report is what a whole install would send: it records, its period ends, the lot draws its only metric.
"""

import sys

from fldp import wire
from fldp.data.reports import Reports
from fldp.survey import Survey
from fldp.telemetry.rehearsal import _value
from fldp.telemetry.specification import specification
from support.telemetry import lived, only, quick_folder, reports

DAYS = ("2026-01-10", "2026-02-10")


def sent(folder, metrics, metric, label):
    values = {} if label == "unset" else {metric.name: _value(metric, label)}
    return reports(lived(folder, metrics, values, days=DAYS))[0].body


def main(name, label, count):
    metrics = only(name)
    metric = metrics.metrics[name]
    survey = Survey.from_dict(specification(metrics, metric))
    with quick_folder() as folder:
        parts = []
        for number in range(int(count)):
            (folder / str(number)).mkdir()
            body = sent(folder / str(number), metrics, metric, label)
            parts.append(wire.decode(body, survey.oracle, survey.version))
    sys.stdout.buffer.write(wire.encode(Reports.concatenate(parts), survey.version))


if __name__ == "__main__":
    main(*sys.argv[1:])
