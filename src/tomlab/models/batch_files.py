"""Batch files: what is missing as OpenAI's batch input, for whatever answers such files, at
`batches/<model>/<stage>-<hash>.in.jsonl` beside the store; answers are looked for in every
`*.out.jsonl` there.
"""

import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from tomlab.errors import InputError
from tomlab.models.batch_vendors import OpenAIBatches, jsonl, parts
from tomlab.models.costs import worst_case
from tomlab.models.replies import FilteredError
from tomlab.models.specs import Request, Response
from tomlab.paths import stage


def ask(run: Any, missing: Mapping[str, Request]) -> None:
    """Take in what was answered since; write the rest. Errors: `InputError` where any is left."""
    if run.model.provider != "openai":
        raise InputError(f"models.{run.model.name}: batch files are of OpenAI's protocol alone")
    vendor, folder = OpenAIBatches(run.adapter), run.store.path.parent / "batches" / run.model.name
    folder.mkdir(parents=True, exist_ok=True)
    failed = _take_in(run, vendor, missing, folder)
    left = {key: request for key, request in missing.items() if key not in run.done}
    if not left:
        return
    files = _write(run, vendor, left, folder)
    told = "".join(f"\n  {path.name}: {count:,} requests" for path, count in files.items())
    also = f" ({len(failed):,} came back without one, such as: {failed[-1]})" if failed else ""
    raise InputError(
        f"models.{run.model.name}: {len(left):,} of {run.total:,} answers are to come{also}. Have "
        f"the files in {folder} answered, each X.in.jsonl to an X.out.jsonl beside it (how: "
        f"docs/batches.md), then run again:{told}"
    )


def _take_in(
    run: Any, vendor: OpenAIBatches, missing: Mapping[str, Request], folder: Path
) -> list[str]:
    """Store the answers that are there; what was said in place of others."""
    failed = []
    for path in sorted(folder.glob("*.out.jsonl")):
        for number, line in enumerate(filter(bytes.strip, path.open("rb")), start=1):
            key, said = vendor.read(line)
            if key and (key not in missing or key in run.done):
                continue
            try:
                reply = run.read(said)
            except FilteredError as error:
                run.done[key] = Response(key, None, run.describe(error), filtered=True)
            except Exception as error:  # noqa: BLE001 - one line must not lose the others
                failed.append(f"{path.name}, line {number}: {run.describe(error)}")
            else:
                worst, sent = worst_case(run.model, missing[key]), run.adapter.payload(missing[key])
                run.done[key] = run.keep(key, sent, reply, 0.0, worst)
    return failed


def _write(
    run: Any, vendor: OpenAIBatches, left: Mapping[str, Request], folder: Path
) -> dict[Path, int]:
    """The files that hold what is left, with how many requests each; those that wait stay as they
    are, and those of which something was answered go.
    """
    waiting, new = {}, dict(left)
    for path in folder.glob("*.in.jsonl"):
        keys = {json.loads(line)["custom_id"] for line in path.read_bytes().splitlines()}
        has_come = path.with_name(path.name.replace(".in.", ".out.")).exists()
        if has_come or run.store.replies(keys):
            path.unlink()
        elif keys & new.keys():
            waiting[path] = len(keys)
            new = {key: request for key, request in new.items() if key not in keys}
    for part in parts(vendor, new, run.model.batch.requests):
        hashed = sha256("".join(part).encode()).hexdigest()[:10]
        path = folder / f"{(stage() or 'asked').replace('/', '-')}-{hashed}.in.jsonl"
        partial = path.with_suffix(".partial")
        partial.write_bytes(jsonl(part.values()))
        partial.replace(path)
        waiting[path] = len(part)
    return dict(sorted(waiting.items()))
