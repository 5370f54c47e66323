"""Every package in `tomlab.benchmarks` has the members that asking and scoring use."""

import importlib
import inspect
import pkgutil

import pytest

from tomlab import benchmarks
from tomlab.asking import prompts
from tomlab.asking.protocol import Benchmark

MODULES = pkgutil.iter_modules(benchmarks.__path__)
NAMES = [module.name for module in MODULES if module.ispkg]


@pytest.fixture(params=NAMES)
def benchmark(request):
    return importlib.import_module(f"tomlab.benchmarks.{request.param}")


def members(declared: type) -> dict:
    """The functions that a protocol declares by name."""
    return {
        name: function
        for name, function in inspect.getmembers(declared, inspect.isfunction)
        if not name.startswith("_")
    }


def takes(function, declared) -> None:
    """Call `function` as its declaration says, with all parameters and with the needed ones."""
    _, *parameters = inspect.signature(declared).parameters.values()
    for chosen in (parameters, [p for p in parameters if p.default is p.empty]):
        placed = [p.name for p in chosen if p.kind is p.POSITIONAL_ONLY]
        named = {p.name: p.default for p in chosen if p.kind is not p.POSITIONAL_ONLY}
        inspect.signature(function).bind(*placed, **named)
        ordered = [p.name for p in chosen if p.kind is not p.KEYWORD_ONLY]
        by_name = {p.name: p.default for p in chosen if p.kind is p.KEYWORD_ONLY}
        inspect.signature(function).bind(*ordered, **by_name)


def test_there_are_benchmarks_to_hold_to_it():
    assert {"bigtom", "fantom", "omnitom", "simpletom"} <= set(NAMES)


def test_benchmark_is_called_as_its_package(benchmark):
    assert benchmark.__name__.endswith(f".{benchmark.NAME}")


def test_every_function_is_there_with_its_parameters(benchmark):
    for name, declared in members(Benchmark).items():
        takes(getattr(benchmark, name), declared)


def test_declared_parameters_and_their_defaults_are_those_of_the_functions(benchmark):
    for name, declared in members(Benchmark).items():
        given = inspect.signature(getattr(benchmark, name)).parameters
        for parameter in inspect.signature(declared).parameters.values():
            if parameter.kind is not parameter.POSITIONAL_ONLY and parameter.name != "self":
                assert given[parameter.name].default == parameter.default, (name, parameter)


def test_units_and_strata_are_names_of_columns(benchmark):
    assert isinstance(benchmark.UNIT, str)
    assert isinstance(benchmark.STRATA, tuple)


def test_methods_have_a_limit_and_prompts_that_are_there(benchmark):
    assert benchmark.METHODS
    for method in benchmark.METHODS.values():
        assert method.max_tokens > 0
        assert method.prompts
        assert all(prompts.load(name) for name in method.prompts)


def test_methods_of_two_calls_name_a_method_and_can_take_its_reasoning(benchmark):
    first = {getattr(method, "first", None) for method in benchmark.METHODS.values()} - {None}
    assert first <= set(benchmark.METHODS)
    if first:
        inspect.signature(benchmark.reasoning_of).bind("So.", "method")


def test_methods_with_a_reminder_come_with_what_makes_it(benchmark):
    if any(getattr(method, "reminder", False) for method in benchmark.METHODS.values()):
        inspect.signature(benchmark.remind).bind(items=None, responses=None)


def test_schema_of_every_method_is_a_json_schema_or_none(benchmark):
    for method in benchmark.METHODS:
        schema = benchmark.schema(method)
        assert schema is None or schema["type"] == "object"


def test_face_exports_what_the_protocol_names(benchmark):
    declared = set(members(Benchmark)) | set(Benchmark.__annotations__)
    assert declared <= set(vars(benchmark))
