"""The clock of an event loop, turned by hand: what a timer does must not depend on how busy the machine is."""

import asyncio


class LoopClock:
    """Stands still from the moment that it is made for the loop that runs."""

    def __init__(self):
        loop = asyncio.get_running_loop()
        self.now = loop.time()
        loop.time = lambda: self.now

    async def turn(self, seconds):
        """Put it forward, and let the timers run that are due, and the tasks that they wake."""
        self.now += seconds
        for _ in range(3):
            await asyncio.sleep(0)
