"""Archives: a backup under load, everything lost, and a collector on what was restored: exactly what the backup held.

``python -m faults.archives SABOTAGE ARGUMENT...`` runs a command of ``fldp``, with a restore that is wrong on purpose.
"""

import asyncio
import os
import signal
import subprocess
import sys

from soak.faults import sabotage
from soak.faults.model import Phase, State


class Moment:
    """What was known when a backup began, and what had been sent when it ended."""

    def __init__(self, run):
        self._run, self.sent = run, {}
        self.states = {model: model.state() for model in run.models}
        self._traces = list(run.administration.traces)

    def end(self):
        self.sent = {model: [*model.late, *model.done] for model in self.states}

    def return_to(self):
        """Set every model to what the backup holds."""
        self._run.administration.traces = self._traces
        for model in self._run.models:
            model.go_back(self.states.get(model, State()), self.sent.get(model, []))
        numbers = self._run.administration.tables.numbers()
        for model in self._run.models:
            model.number = numbers.get(model.version)


async def lose_everything(run, folder, fresh, number=0):
    """Back up under load, go on, lose all data, restore. What the backup cannot hold is sent again, and counts once."""
    await run.reach(10)
    moment, archive = Moment(run), folder / f"backup {number}"
    await _shell(run, "backup", archive)
    await run.traffic.quiet()
    moment.end()
    await run.reach(10)
    await _change_everything(run)
    await run.traffic.quiet()
    for server in run.servers:
        await asyncio.to_thread(server.stop, signal.SIGKILL)
    fresh(run.servers)
    with run.silence.during("restore"):
        await _shell(run, "restore", archive, wrong=run.server.sabotage)
    moment.return_to()
    for server in run.servers:
        with run.silence.during("start"):
            await asyncio.to_thread(server.start)
    run.result.counted["restores"] += 1
    await run.compare("after a restore")
    await _send_again(run, moment)
    await run.traffic.settle()
    await run.compare("after everything was sent again")


async def _change_everything(run):
    """Delete, close and publish what the backup has as it was."""
    opened = run.among(Phase.OPEN)
    await run.delete(opened[0])
    await run.recreate(opened[0])
    await run.close(opened[1])
    await run.publish()
    await run.reach(10)


async def _shell(run, *arguments, wrong=None):
    """Run a command on the data of the collector; it must end well."""
    done = await asyncio.to_thread(_command, run.server, *map(str, arguments), wrong=wrong)
    said = (done.stdout + done.stderr)[-400:]
    run.result.require(done.returncode == 0, f"{arguments[0]} ended with {done.returncode}: {said}")


def _command(server, *arguments, wrong):
    database = server.settings.get("database")
    where = ["--database", database] if database else ["--data", str(server.data)]
    command = [sys.executable, "-m", "soak.faults.archives", wrong or "-", *arguments, *where]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=server.environment())


async def _send_again(run, moment):
    """Send again some of what the backup holds: it is known, and not counted again."""
    for model, state in moment.states.items():
        for request in run.rng.sample(state.settled, min(10, len(state.settled))):
            await run.traffic.send_once(model, request)


def main(wrong, *arguments):
    from fldp import cli

    if wrong in sabotage.RESTORES:
        sabotage.RESTORES[wrong]()
    sys.argv = ["fldp", *arguments]
    cli.main()


def elsewhere(folder):
    """Return what gives a collector an empty folder to restore into."""

    def fresh(servers):
        for server in servers:
            server.elsewhere = folder / f"restored {os.urandom(4).hex()}"
        _another_lake(servers)

    return fresh


def another_database(cluster):
    """Return what gives collectors an empty database to restore into."""

    def fresh(servers):
        url = cluster.database()
        for server in servers:
            server.settings["database"] = url
        _another_lake(servers)

    return fresh


def _another_lake(servers):
    """Lose the lake too: it may hold reports that were acknowledged after the backup."""
    lake = servers[0].folder / f"lake {os.urandom(4).hex()}"
    for server in servers:
        server.settings["lake"] = str(lake)


if __name__ == "__main__":
    main(*sys.argv[1:])
