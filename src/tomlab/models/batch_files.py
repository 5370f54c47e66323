"""Batch files: what is missing as OpenAI's batch input, for whatever answers such files.

They lie beside the store, `batches/<model>/<stage>-<hash>.in.jsonl`, the hash that of their
requests; answers are looked for in every `*.out.jsonl` there.
"""

import json
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from tomlab.errors import InputError
from tomlab.models.batch_vendors import OpenAIBatches, jsonl
from tomlab.models.batches import parts
from tomlab.models.providers import by_prefix
from tomlab.models.replies import FilteredError, without_key
from tomlab.models.specs import Request
from tomlab.paths import stage


def ask(run: Any, missing: Mapping[str, Request]) -> None:
    """Take in what was answered since; write the rest. Errors: `InputError` where anything is left,
    with the files and what to do.
    """
    vendor, folder = OpenAIBatches(run.adapter), run.store.path.parent / "batches" / run.model.name
    folder.mkdir(parents=True, exist_ok=True)
    failed = _take_in(run, vendor, missing, folder)
    over = {*run.replies, *run.errors}
    left = {key: request for key, request in missing.items() if key not in over}
    if run.stopped:
        raise run._end()
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
        with path.open("rb") as lines:
            for number, line in enumerate(filter(bytes.strip, lines), start=1):
                told = vendor.read(line)
                if told.key and (told.key not in missing or told.key in run.replies):
                    continue
                try:
                    if told.answer is None:
                        raise FilteredError(told.said) if told.filtered else ValueError(told.said)
                    reply = without_key(run.adapter.read(told.answer), run.adapter.secret)
                except FilteredError as error:
                    run._fail(told.key, missing[told.key], error)
                except Exception as error:  # noqa: BLE001 - one line must not lose the others
                    failed.append(f"{path.name}, line {number}: {run._describe(error)}")
                else:
                    run._keep(told.key, missing[told.key], reply, 0.0)
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
        elif keys <= new.keys():
            waiting[path] = len(keys)
            new = {key: request for key, request in new.items() if key not in keys}
    for shard in _shards(new, run.batch.shards):
        entries = [(key, vendor.entry(key, run.adapter.wire(request))) for key, request in shard]
        sized = [(*entry, len(json.dumps(entry[1])) + 1) for entry in entries]
        for part in parts(sized, run.batch.requests or vendor.most, vendor.most_bytes):
            hashed = sha256("".join(key for key, *_ in part).encode()).hexdigest()[:10]
            path = folder / f"{(stage() or 'asked').replace('/', '-')}-{hashed}.in.jsonl"
            partial = path.with_suffix(".partial")
            partial.write_bytes(jsonl(entry for _, entry, _ in part))
            partial.replace(path)
            waiting[path] = len(part)
    return dict(sorted(waiting.items()))


def _shards(missing: Mapping[str, Request], count: int) -> Iterable[list[tuple[str, Request]]]:
    """The requests in so many lists of like length; those that share a prefix stay together."""
    size, shard = len(missing) / count, []
    for together in by_prefix(missing):
        shard += together
        if len(shard) >= size:
            yield shard
            shard = []
    if shard:
        yield shard
