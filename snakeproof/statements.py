"""Statements: what an artifact says of the job that made it. The runner states it, and every writer writes it.

    {"call": "densevse.language.words:write_words", "given": {"minimum": 5}, "code": "91c2...", "contents": [],
     "wildcards": {"dataset": "scenes"}, "inputs": {"tokens": {"scenes/tokens.parquet": "3f0a..."}}, "found": {}}

`inputs` has each file by its place below results/ with the digest of its rows or weights. What an artifact was made
from is followed from file to file, and copied nowhere. A statement names no folder, so it is the same wherever a
project is.
"""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from snakeproof.errors import InputError, describe_differences, differences, spell_none
from snakeproof.seals import (
    CONTENT,
    PACKAGES,
    SEAL,
    WEIGHTS,
    copy_parquet,
    copy_weights,
    damage_error,
    read_seal,
    sealable_text,
    verify_file,
)

RESULTS = "SNAKEPROOF_RESULTS"
"""The environment variable by which a workflow tells its jobs the folder of results."""
CARRIES = "SNAKEPROOF_CARRIES"
"""The one that says that artifacts carry the statements of their ancestors, as jobs do not see each other's files."""
STATEMENT = "snakeproof.statement"
OLDER, OLDER_IDENTITY = "densevse.made_from", "densevse.identity"
"""Keys of an earlier version: of statements, which copied the settings of all ancestors, and of what named a file."""
ARTIFACTS = {".parquet", WEIGHTS}
"""The endings of files that have a statement and a seal."""

Inputs = Mapping[str, Mapping[str, str | None]]
"""Name of an input -> the place of each of its files -> its digest, which a file of another kind does not have."""


@dataclass(frozen=True)
class Statement:
    """The job of an artifact: what it called, what it was given, and what it read."""

    call: str = ""
    given: Mapping[str, Any] = field(default_factory=dict)
    code: str | None = None  # none where a change of code makes nothing again
    contents: Any = ()  # digests of the user's files
    wildcards: Mapping[str, str] = field(default_factory=dict)
    inputs: Inputs = field(default_factory=dict)
    found: Mapping[str, Any] = field(default_factory=dict)  # what only the job knows, such as its device
    adopted: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Place of an adopted file, this one or one that it was made from -> what was not compared."""
    above: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Digest -> the statement of an ancestor, carried where the files of ancestors are not at hand."""

    def values(self) -> dict[str, Any]:
        """The fields that say something, as plain values."""
        plain: dict[str, Any] = json.loads(json.dumps(asdict(self), default=str))
        return {name: value for name, value in plain.items() if value not in (None, "", [], {})}

    @property
    def names(self) -> dict[str, Any]:
        """What names the artifact: the wildcards of its job, and what that found."""
        return {**self.wildcards, **self.found}

    @property
    def own_values(self) -> dict[str, Any]:
        """The fields that say something, as plain values, without the statements that it carries of ancestors."""
        return {name: value for name, value in self.values().items() if name != "above"}


_job = Statement()
"""The job in progress; files that no runner makes say nothing of one."""


@contextmanager
def making(job: Statement) -> Iterator[None]:
    """States the job of all artifacts that are written while the context lasts."""
    global _job
    before, _job = _job, job
    try:
        yield
    finally:
        _job = before


def current_statement(found: Mapping[str, Any]) -> Statement:
    """The statement of an artifact of the job in progress, with what only the job has found."""
    return replace(_job, found=found)


def statement_metadata(**found: Any) -> dict[str, str]:
    """The metadata of weights of the job in progress, with room for a seal; `found` as in `current_statement`."""
    return {STATEMENT: sealable_text(current_statement(found).values())}


def read_statement(path: str | Path) -> Statement:
    """The statement of an artifact. Raises `InputError` if it has none, or is damaged where that is read."""
    return parse_statement(path, read_seal(path).metadata)


def parse_statement(path: str | Path, metadata: Mapping[str, str]) -> Statement:
    """The statement in the metadata of the file `path`. Raises `InputError` if there is none."""
    text = metadata.get(STATEMENT, metadata.get(OLDER))
    if text is None:
        raise InputError(
            f"{path}: expected an artifact that says how it was made, found a file of other software. Delete it and "
            "run snakemake again."
        )
    try:
        found = {key: value for key, value in json.loads(text).items() if key not in (CONTENT, SEAL)}
        if STATEMENT in metadata:
            return Statement(**found)
        return _translate_older({**found, **json.loads(metadata.get(OLDER_IDENTITY, "{}"))})
    except (ValueError, TypeError, AttributeError):
        raise damage_error(path, "in its metadata") from None


def restate(source: str | Path, output: str | Path, statement: Statement) -> None:
    """Copies an artifact with another statement; its rows or weights stay as they are.

    Raises `InputError` if the file is damaged.
    """
    verify_file(source)
    if Path(source).suffix == WEIGHTS:
        copy_weights(source, output, {STATEMENT: sealable_text(statement.values())})
        return
    metadata = read_seal(source).metadata
    named = {key: f"{PACKAGES[0]}.{key.partition('.')[2]}" for key in metadata}
    values = {key: (name, metadata[key]) for key, name in named.items()}
    stated = STATEMENT if STATEMENT in metadata else OLDER
    copy_parquet(source, output, {**values, stated: (STATEMENT, json.dumps(statement.values()))})


def is_older(path: str | Path) -> bool:
    """True for an artifact whose statement is of an earlier version, and does not have all of its job."""
    return STATEMENT not in read_seal(path).metadata


def _translate_older(older: Mapping[str, Any]) -> Statement:
    """A statement of an earlier version: its settings are what was found, its parents have their digests."""
    settings = {key: value for key, value in older.items() if key not in ("parents", "digests", "digest")}
    inputs, above = dict[str, dict[str, str | None]](), dict[str, Mapping[str, Any]]()
    for name, one in older.get("parents", {}).items():
        parent = _translate_older(one)
        inputs[name] = dict(one.get("digests", {}))
        above |= {**parent.above, **dict.fromkeys(one.get("digests", {}).values(), parent.own_values)}
    return Statement(inputs=inputs, found=settings, above=above)


def place(path: str | Path) -> str:
    """The place of a file below results/, also in a copy of it; the name of a file that is elsewhere."""
    results, file = _results_folder(), os.path.normpath(path)
    folder, whole = f"{os.path.abspath(results)}/", os.path.abspath(file)
    if whole.startswith(folder):  # a folder inside may have the same name
        return whole.removeprefix(folder)
    _, found, below = f"/{file}".rpartition(f"/{results.lstrip('/')}/")
    return below if found else os.path.basename(file)


def result_path(below: str) -> Path:
    """The path of a place below results/."""
    return Path(os.environ.get(RESULTS, "results"), below)


def is_artifact(path: str | Path) -> bool:
    """True for a file below results/ of a kind that has a statement; in a copy of it, for one in a folder there."""
    is_below = "/" in place(path) or os.path.dirname(os.path.normpath(path)) == _results_folder()
    return Path(path).suffix in ARTIFACTS and is_below


def _results_folder() -> str:
    return os.path.normpath(os.environ.get(RESULTS, "results"))


def digest(path: str | Path) -> str:
    """The digest of a file in statements, as its seal states it; neither pages nor weights are checked here."""
    return read_seal(path).digest[:32]


def state_job(job: Any, is_planned: bool = False) -> Statement:
    """The statement for the outputs of a job of Snakemake, as its script or its plan has it.

    Of a planned job, whose inputs may not be made yet, it has no digests. Raises `InputError` for a damaged input.
    """
    files = {name: [found] if isinstance(found, str) else list(found) for name, found in job.input.items() if found}
    inputs = {
        name: {place(path): None if is_planned or not is_artifact(path) else digest(path) for path in paths}
        for name, paths in sorted(files.items())
    }
    carried = {} if is_planned else _carried_fields(list(job.input))
    return Statement(
        call=job.params.call,
        given=job.params.given,
        code=job.params.get("code"),
        contents=job.params.get("contents", ()),
        wildcards=dict(job.wildcards.items()),
        inputs=inputs,
        **carried,
    )


def _carried_fields(files: Sequence[str]) -> dict[str, Any]:
    """What a job's outputs carry of the artifacts among its inputs, as fields of their statement.

    Marks of adopted files are carried always, and whole statements where files of ancestors are not at hand.
    """
    read = {digest(path): read_statement(path) for path in files if is_artifact(path)}
    adopted = {key: value for one in read.values() for key, value in one.adopted.items()}
    above = {key: value for one in read.values() for key, value in one.above.items()}
    above |= {key: one.own_values for key, one in read.items()}
    return {"adopted": adopted, "above": above if os.environ.get(CARRIES) else {}}


def check_inputs(files: Sequence[str | Path]) -> None:
    """Checks that the artifacts among a job's inputs were made from the same contents of each file.

    Raises `InputError` that names the file, and what was made from other contents of it.
    """
    known = {place(path): (digest(path), "than it has now") for path in files if is_artifact(path)}
    for path in filter(is_artifact, files):
        for below, stated in _digests(read_statement(path)):
            expected, since = known.setdefault(below, (stated, f"than for {path}"))
            if stated != expected:
                folder = str(path).removesuffix(place(path))
                raise InputError(
                    f"{folder}{below}: another file of that name was read {since}, for\n  {path}\nRestore that file; "
                    "or delete this one, which was made from it, and run snakemake again."
                )


def _digests(statement: Statement) -> Iterator[tuple[str, str]]:
    """The place and the digest of each artifact that a file was made from."""
    for files in statement.inputs.values():
        yield from ((below, stated) for below, stated in files.items() if stated is not None)


def check_agrees(path: str | Path, planned: Statement) -> None:
    """Raises `InputError` that says in what the statement of a file differs from a planned job.

    A statement of an earlier version does not have all of its job, so it agrees with none.
    """
    if is_older(path):
        raise InputError(f"{path}: of an earlier version, whose files do not state all of their job.")
    if found := job_differences(read_statement(path), planned):
        raise InputError(f"{path}: {'; '.join(found)}.")


def job_differences(stated: Statement, planned: Statement) -> list[str]:
    """Each difference between what a file says of its job and a planned job, in words; empty if they agree.

    What only the job has found is not compared, and a digest only where both have one.
    """
    said, plan = ({name: one.values().get(name) for name in _COMPARED} for one in (stated, planned))
    found = [
        f"{path.removeprefix('given.')}: the plan says {spell_none(now)}, found {spell_none(before)}"
        for path, (before, now) in differences(said, plan).items()
    ]
    return found + list(_input_differences(stated.inputs, planned.inputs))


def agree(said: Any, found: Any) -> bool:
    """True if two settings are equal in all keys that both have; a key of only one was read by no code, or is new."""
    if isinstance(said, Mapping) and isinstance(found, Mapping):
        return all(agree(said[key], found[key]) for key in said.keys() & found.keys())
    if isinstance(said, list) and isinstance(found, list):
        return len(said) == len(found) and all(map(agree, said, found))
    return bool(said == found)


_COMPARED = ("call", "given", "code", "contents", "wildcards")


def _input_differences(stated: Inputs, planned: Inputs) -> Iterator[str]:
    """The files of which only one of two jobs was made, and those that have changed."""
    for name in sorted(stated.keys() | planned.keys()):
        before, now = stated.get(name, {}), planned.get(name, {})
        yield from (f"was made from {file}, which is no input now" for file in sorted(before.keys() - now.keys()))
        yield from (f"was not made from {file}, which is an input now" for file in sorted(now.keys() - before.keys()))
        for file in sorted(before.keys() & now.keys()):
            if None not in (before[file], now[file]) and before[file] != now[file]:
                yield f"was made from another {file} than is there now"


def merge_statements(files: Sequence[str | Path]) -> Statement:
    """The statement of an artifact in several files: that of the first, with the inputs of all.

    Raises `InputError` if the files were made by different jobs but for their shard, or from different contents.
    """
    statements = [read_statement(path) for path in files]
    first = _shared_values(statements[0])
    for path, one in zip(files, statements, strict=True):
        if (found := _shared_values(one)) != first:
            raise InputError(
                f"{path}: made from other things than {files[0]}: {describe_differences(first, found)}. Delete the "
                "wrong one and run snakemake again."
            )
    inputs: dict[str, dict[str, str | None]] = {}
    for path, one in zip(files, statements, strict=True):
        for name, read in one.inputs.items():
            known = inputs.setdefault(name, {})
            for below, stated in read.items():
                if known.setdefault(below, stated) != stated:
                    raise InputError(
                        f"{path}: made from other contents of {below} than {files[0]}. Delete both and run snakemake "
                        "again."
                    )
    above = {key: value for one in statements for key, value in one.above.items()}
    adopted = {key: value for one in statements for key, value in one.adopted.items()}
    return replace(statements[0], inputs=inputs, above=above, adopted=adopted)


def _shared_values(statement: Statement) -> dict[str, Any]:
    """What the shards of an artifact share."""
    named = {name: value for name, value in statement.names.items() if name != "shard"}
    return {**statement.given, **named, "call": statement.call}


def parents(statement: Statement) -> dict[str, list[Statement]]:
    """The statement of each artifact that a file was made from, by the name of the input, with those of its shards.

    They are read from the files below results/ that have the stated digests, or else are those that it carries. What is
    at neither place is left out.
    """
    found = {
        name: [_parent(statement, below, stated) for below, stated in files.items() if stated is not None]
        for name, files in statement.inputs.items()
    }
    return {name: there for name, each in found.items() if (there := [one for one in each if one is not None])}


def ancestors(statement: Statement) -> list[Statement]:
    """The statements of everything that a file was made from, directly or not, each once; see `parents`."""
    found: list[Statement] = []
    waiting = [one for each in parents(statement).values() for one in each]
    while waiting:
        one = waiting.pop()
        if one not in found:
            found.append(one)
            waiting += [above for each in parents(one).values() for above in each]
    return found


def _parent(statement: Statement, below: str, stated: str) -> Statement | None:
    path = result_path(below)
    if path.is_file() and digest(path) == stated:
        return read_statement(path)
    known = statement.above.get(stated)
    return None if known is None else replace(Statement(**known), above=statement.above)
