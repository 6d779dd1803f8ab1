import inspect
from pathlib import Path

import fldp


def test_public_names_are_complete_and_sorted():
    classes = [name for name in fldp.__all__ if name[0].isupper()]
    functions = [name for name in fldp.__all__ if not name[0].isupper()]
    acronyms = [name for name in classes if name.isupper()]
    assert fldp.__all__ == sorted(acronyms) + sorted(set(classes) - set(acronyms)) + sorted(functions)
    assert all(hasattr(fldp, name) for name in fldp.__all__)


def test_every_public_name_is_documented_with_an_example():
    classes = {"FrequencyOracle", "Oracle", "StringOracle", "Verification", "Witness"}
    plain = {*classes, *(n for n in fldp.__all__ if n.endswith("Error"))}
    for name in set(fldp.__all__) - plain:
        assert ">>>" in inspect.getdoc(getattr(fldp, name)), name
    for name in plain:
        assert inspect.getdoc(getattr(fldp, name)), name


def test_public_methods_are_documented():
    for name in fldp.__all__:
        public = getattr(fldp, name)
        for method, member in inspect.getmembers(public if inspect.isclass(public) else None, callable):
            if not method.startswith("_") and getattr(member, "__module__", "").startswith("fldp"):
                assert inspect.getdoc(member), f"{name}.{method}"


def test_the_exception_tree():
    for name in fldp.__all__:
        if name.endswith("Error"):
            assert issubclass(getattr(fldp, name), fldp.FldpError)


def test_version():
    from importlib.metadata import version

    assert version("fldp") == fldp.__version__


def test_dir_offers_public_names_and_packages_only():
    for module in (fldp, fldp.client, fldp.oracles, fldp.privacy):
        named = {name for name in dir(module) if not name.startswith("__")}
        assert named >= set(module.__all__)
        packages = named - set(module.__all__)
        assert all(inspect.ismodule(getattr(module, name)) for name in packages), packages
    assert "__version__" in dir(fldp)


def test_every_room_is_found_without_importing_it_first():
    """One that was left out would be an attribute only after somebody else has imported it."""
    rooms = {path.name.removesuffix(".py") for path in Path(fldp.__file__).parent.iterdir() if path.name[0].isalpha()}
    assert {*fldp._ROOMS} == rooms - {"py.typed"}
