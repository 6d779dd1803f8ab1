"""Faults: known reports are sent to a real collector while things break, and afterwards everything is compared.

``content``: what is sent. ``connection``, ``load``: how it is sent, again and again until it is acknowledged.
``launcher``, ``process``: the collector, as a process that can be watched, stopped and killed. ``judge``: what must be
there. ``scenarios`` and ``outages``: the faults. ``sabotage``: collectors that are wrong, which the driver must catch.
``durable``: what was on the disk when it was acknowledged. ``docs/reliability.md``.
"""
