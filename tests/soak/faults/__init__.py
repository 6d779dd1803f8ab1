"""Faults: known reports are sent to a real collector while things break, and afterwards everything is compared.

``content``: what is sent. ``connection``, ``load``: how it is sent, again and again until it is acknowledged.
``launcher``, ``page``, ``process``: the collector, a process that can be watched, stopped and killed.
``judge``: what must be there. ``silence``: how long nothing was acknowledged, and what was going on.
``trial``: all of these together. ``scenarios``, ``outages``, ``disk``: the faults.
``model``, ``traffic``, ``administration``: surveys that come and go, every report with a symbol of its own.
``tables``, ``lakes``, ``archives``: looks into the database, the lake and backups. ``lifecycle``, ``changes``,
``searches``, ``lifecycle_runs``: all of these together, at chosen moments.
``sabotage``: collectors that are wrong, which must be found out. ``durable``: what was on the disk at an answer.
``runs``, ``soak``: all of it, as long as one likes. ``docs/reliability.md``.
"""
