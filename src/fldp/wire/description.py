"""Descriptions of oracles as JSON, in headers, metadata and surveys."""

from fldp.errors import WireError
from fldp.oracles import get, names
from fldp.oracles.base.oracle import Oracle
from fldp.support.canonical_json import Json


def describe(oracle: Oracle) -> dict[str, Json]:
    """Describe an oracle as JSON: its name and the parameters that differ from their defaults.

    >>> import fldp
    >>> describe(fldp.FHR(epsilon=1.0, domain_size=7))
    {'name': 'fhr', 'epsilon': 1.0, 'domain_size': 7}
    """
    return {"name": oracle.name, **oracle.parameters}


def build(fields: object) -> Oracle:
    """Build an oracle from its description; the inverse of ``describe``.

    >>> build({"name": "grr", "epsilon": 1, "domain_size": 5})
    GRR(epsilon=1.0, domain_size=5)
    """
    if not (isinstance(fields, dict) and isinstance(fields.get("name"), str)):
        raise WireError("wire: an oracle must be described by its name and parameters")
    parameters = {name: value for name, value in fields.items() if name != "name"}
    cls = get(fields["name"])
    unknown = sorted(parameters.keys() - cls.params.keys())
    if unknown:
        raise WireError(f"wire: {cls.__name__} has no parameter {unknown[0]!r}")
    try:
        return cls(**parameters)
    except TypeError:
        raise WireError(f"wire: {cls.__name__} needs {', '.join(cls.params)}") from None


def abbreviate(fields: object) -> str:
    """Return a description for a message: written as the oracle's ``repr`` where its name is known, and short.

    >>> abbreviate({"name": "grr", "epsilon": 1, "domain_size": 5})
    'GRR(epsilon=1.0, domain_size=5)'
    """
    text = repr(fields)
    if isinstance(fields, dict) and fields.get("name") in names():
        cls = get(fields["name"])
        parameters = {name: fields[name] for name in cls.params if name in fields}
        if type(parameters.get("epsilon")) is int:
            parameters["epsilon"] = parameters["epsilon"] / 1  # JSON does not tell 1 from 1.0; the oracle shows 1.0
        text = f"{cls.__name__}({', '.join(f'{name}={value!r}' for name, value in parameters.items())})"
    return text if len(text) <= 200 else f"{text[:196]} ..."
