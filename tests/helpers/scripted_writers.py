"""A writer whose model gives the answers that a test has for it."""

import asyncio

from tomlab.benchmarks.writing import Writer
from tomlab.models.specs import Reply, Response

ERROR = Response("key", None, "429: slow down")


def said(text, finish="stop"):
    return Response("key", Reply(text, finish))


def asked(step, drafts, **options):
    """The requests of a step."""
    return [step.request(draft, **options) for draft in drafts]


def wrote(step, drafts, responses, source="llm:smol", **options):
    """The writer after a step to which a model gave these responses."""

    async def ask(requests):
        assert len(requests) == len(responses)
        return responses

    writer = Writer(ask, source, options)
    asyncio.run(writer.take(step, drafts))
    return writer
