"""One question, asked by either client."""

import asyncio

from fldp import AsyncClient, Client


def asked(kind, url, operation, **options):
    """Ask with one of both clients."""
    if kind is Client:
        with Client(url, **options) as client:
            return operation(client)

    async def ask():
        async with AsyncClient(url, **options) as client:
            return await operation(client)

    return asyncio.run(ask())
