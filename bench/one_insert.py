"""What somebody would write instead of a collector: the same server, every report checked, one INSERT for each.

    python one_insert.py DATABASE PORT SURVEY

It has no keys, so a report that is sent twice counts twice.
"""

import asyncio
import sys
from pathlib import Path

import psycopg_pool
from granian.constants import Interfaces
from granian.server.embed import Server
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from fldp import Survey, wire

TABLE = "CREATE TABLE IF NOT EXISTS one_insert (survey text NOT NULL, report bytea NOT NULL)"
INSERT = "INSERT INTO one_insert VALUES (%s, %s)"


class App:
    """A table of reports and the route that fills it."""

    def __init__(self, database: str, survey: Survey) -> None:
        self.survey = survey
        self.pool = psycopg_pool.AsyncConnectionPool(database, min_size=4, max_size=16, open=False)

    async def reports(self, request: Request) -> JSONResponse:
        """Store reports, durably."""
        reports = wire.decode(await request.body(), self.survey.oracle, self.survey.version)
        rows = [(self.survey.version, bytes(report)) for report in reports.data]
        async with self.pool.connection() as connection, connection.cursor() as cursor:
            if len(rows) == 1:
                await cursor.execute(INSERT, rows[0])
            else:
                await cursor.executemany(INSERT, rows)
        return JSONResponse({"accepted": len(rows)})

    async def serve(self, port: int) -> None:
        """Listen until the process is told to end."""
        await self.pool.open(wait=True)
        async with self.pool.connection() as connection:
            await connection.execute(TABLE)
        app = Starlette(routes=[Route("/v1/versions/{id}/reports", self.reports, methods=["POST"])])
        server = Server(app, port=port, interface=Interfaces.ASGINL, log_enabled=False)
        print(f"listening on {port}", flush=True)
        await server.serve()


if __name__ == "__main__":
    database, port, file = sys.argv[1:]
    asyncio.run(App(database, Survey.parse(Path(file).read_text(), is_json=True)).serve(int(port)))
