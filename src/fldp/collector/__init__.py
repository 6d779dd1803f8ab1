"""The collector: a service that takes reports, counts each of them once, and shows estimates. ``docs/collector.md``."""
