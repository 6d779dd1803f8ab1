import ast
import inspect
import re
import textwrap

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


ANYTHING = {"Oracle.estimate(options)"}  # a class may narrow the options of its base


def test_signatures_say_what_they_take_and_return():
    """``Any`` within an array stands for its type of numbers."""
    anything = {f"{name}({of})" for name, function in public_functions() for of in unsaid(function)}
    assert anything == ANYTHING


def public_functions():
    for name in fldp.__all__:
        public = getattr(fldp, name)
        if inspect.isfunction(public):
            yield name, public
        elif inspect.isclass(public):
            own = [each for each in public.__mro__ if each.__module__.startswith("fldp")]
            methods = ((f"{base.__name__}.{name}", method) for base in own for name, method in vars(base).items())
            yield from ((name, method) for name, method in methods if is_own(name.split(".")[1], method))


def is_own(name, value):
    """Whether it is a public method or constructor that somebody wrote: those of dataclasses have no file."""
    is_public = name == "__init__" or not name.startswith("_")
    return is_public and inspect.isfunction(value) and not value.__code__.co_filename.startswith("<")


def unsaid(function):
    """Name the parameters of a function that take anything, and ``return`` where it returns anything."""
    (node,) = ast.parse(textwrap.dedent(inspect.getsource(function))).body
    every = [*node.args.args, *node.args.kwonlyargs, node.args.vararg, node.args.kwarg]
    annotations = {each.arg: each.annotation for each in every if each and each.arg not in ("self", "cls")}
    for name, annotation in {**annotations, "return": node.returns}.items():
        text = ast.unparse(annotation) if annotation else "Any"
        if re.search(r"\bAny\b", re.sub(r"(NDArray|Array)\[Any\]", "", text)):
            yield name
