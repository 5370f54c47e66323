"""Models asked through the `openai` client at its endpoint `responses`."""

from typing import Any

import openai

from tomlab.models.openai import URL, cache, response_format, with_system
from tomlab.models.remote import Payload, Remote
from tomlab.models.replies import FILTERED, MalformedReplyError, reply, thinking
from tomlab.models.specs import OpenAIModel, Reply, Request

# By the status of a response or, of an incomplete one, its reason.
_FINISH = {"completed": "stop", "max_output_tokens": "length", "content_filter": FILTERED}
_FINISH |= {"refusal": "refusal"}


class Responses(Remote):
    """Any server that speaks OpenAI's protocol of responses."""

    sdk, client_class = openai, openai.AsyncOpenAI
    url, key_env = URL, "OPENAI_API_KEY"
    path = "/responses"
    spec: OpenAIModel

    def body(self, request: Request) -> Payload:
        spec = self.spec
        messages, told = with_system(request.messages, spec.system_role), None
        if spec.system_role == "system":
            told = "\n\n".join(m["content"] for m in messages if m["role"] == "system") or None
            messages = [message for message in messages if message["role"] != "system"]
        effort, form = spec.reasoning_effort, response_format(request).get("response_format")
        return {
            "instructions": told,
            "input": messages,
            "max_output_tokens": self.limit(request),
            "temperature": self.temperature(request),
            "reasoning": None if effort is None else {"effort": effort},
            "text": form and {"format": {"type": form["type"], **form["json_schema"]}},
            "store": False,  # by default the vendor keeps responses for weeks
            "extra_body": spec.extra_body,
        }

    def read(self, response: Any) -> Reply:
        try:
            output, usage, finish = response.output, response.usage, response.status
            if finish == "failed":
                raise MalformedReplyError(f"the response failed: {response.error!r}")
            if finish == "incomplete":
                finish = response.incomplete_details.reason
            parts = [part for item in output if item.type == "message" for part in item.content]
            texts = [part.text for part in parts if part.type == "output_text"]
            refused = [part.refusal for part in parts if part.type == "refusal"]
            thoughts = [item for item in output if item.type == "reasoning"]
            # In full, as servers of open models tell it, or else the vendor's summary.
            thought = [
                part.text for item in thoughts for part in item.content or item.summary or ()
            ]
        except (AttributeError, TypeError):
            raise MalformedReplyError(f"no output in the reply: {str(response)!r}") from None
        if not all(isinstance(part, str) for part in [*texts, *refused]):
            raise MalformedReplyError(f"expected texts in the reply, found {str(response)!r}")
        finish = "refusal" if refused else finish
        counts = (getattr(usage, f"{what}_tokens", 0) for what in ("input", "output"))
        origin = {"model": getattr(response, "model", None)} | thinking(*thought)
        said = "".join(texts) or "".join(refused)
        return reply(said, finish, _FINISH, *counts, origin, *cache(usage, "input"))
