"""The HTTP interface of a collector, described once: models, operations, and the OpenAPI document from both."""
