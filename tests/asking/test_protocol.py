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
FUNCTIONS = {name: member for name, member in vars(Benchmark).items() if name[0].islower()}


@pytest.fixture(params=NAMES)
def benchmark(request):
    return importlib.import_module(f"tomlab.benchmarks.{request.param}")


def test_face_has_what_the_protocol_names(benchmark):
    assert {*FUNCTIONS, *Benchmark.__annotations__} <= {*vars(benchmark)}
    assert benchmark.__name__.endswith(f".{benchmark.NAME}")
    assert isinstance(benchmark.UNIT, str)
    assert isinstance(benchmark.STRATA, tuple)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_have_the_declared_parameters_with_their_defaults(benchmark, name):
    _, *declared = inspect.signature(FUNCTIONS[name]).parameters.values()
    parameters = [*inspect.signature(getattr(benchmark, name)).parameters.values()]
    for ours, theirs in zip(parameters, declared, strict=False):
        assert ours.default == theirs.default
        assert ours.name == theirs.name or theirs.kind is theirs.POSITIONAL_ONLY
    assert len(parameters) >= len(declared)
    for added in parameters[len(declared) :]:
        assert added.default is not added.empty or added.kind is added.VAR_KEYWORD


def test_methods_have_a_limit_prompts_that_are_there_and_an_object_for_a_schema(benchmark):
    for name, method in benchmark.METHODS.items():
        assert method.max_tokens > 0
        assert method.prompts
        assert all(prompts.load(prompt) for prompt in method.prompts)
        schema = benchmark.schema(name)
        assert schema is None or schema["type"] == "object"


def test_methods_of_two_calls_and_with_a_reminder_come_with_what_they_take(benchmark):
    methods = benchmark.METHODS.values()
    first = {getattr(method, "first", None) for method in methods} - {None}
    assert first <= {*benchmark.METHODS}
    if first:
        inspect.signature(benchmark.reasoning_of).bind("So.", "method")
    if any(getattr(method, "reminder", False) for method in methods):
        inspect.signature(benchmark.remind).bind(items=None, responses=None)
