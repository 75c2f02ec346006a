"""Files that are obtained: from an address, a hub, by hand, from a rule or the project; and the user's paths."""

import os
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Annotated, Any, Literal, Self, get_args
from urllib.parse import unquote, urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, RootModel, model_validator

from snakeproof.contents import is_in_bucket
from snakeproof.strict import Strict

ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")

LONGEST_PATH = 4095
"""Bytes, on Linux; a name in a path has 255 at most."""

NOT_FOR_SNAKEMAKE = re.compile(r"[{}\x00-\x1f\x7f]")


def normalise_path(path: str) -> str:
    """A path in its shortest form, so that each place has one name, as Snakemake compares names as text.

    `//`, `/./`, `x/..` and a final `/` are removed. Links are not followed, and nothing is expanded. Raises
    `ValueError` if it is not a path, or if Snakemake would read it as another one.
    """
    if ADDRESS.match(path):
        raise ValueError(_address_message(path))
    if path == "~" or path.startswith("~/"):
        raise ValueError(f"{path!r}: `~` is not expanded; write the folder's whole path")
    _refuse_signs(path)
    shortest = os.path.normpath(re.sub("^/+", "/", path))
    if len(os.fsencode(shortest)) > LONGEST_PATH or any(len(os.fsencode(part)) > 255 for part in shortest.split("/")):
        raise ValueError(f"{path[:60]!r}...: no system takes a path, or a name in it, of that length; shorten it")
    if ".." in path.split("/") and os.path.exists(path) and not _is_same_file(path, shortest):
        raise ValueError(f"{path!r}: `..` follows a symbolic link; write the path without it: {os.path.realpath(path)}")
    return shortest


def _refuse_signs(path: str) -> None:
    found = NOT_FOR_SNAKEMAKE.search(path)
    if found:
        raise ValueError(
            f"{path!r}: {found[0]!r} cannot stand in a path, as Snakemake takes what is in braces for a wildcard; "
            "rename the folder or file, or name a symbolic link to it"
        )


def _address_message(address: str) -> str:
    if address.lower().startswith("file:"):
        return f"{address!r} is an address; write the path itself: {unquote(urlsplit(address).path)}"
    return (
        f"{address!r} is an address, and a file or folder of this machine belongs here; download it and name the file, "
        "or give the address as `url` of a source (under `sources`, `source` or `weights`). Of addresses, those in a "
        "bucket, such as s3://bucket/images.zip, may stand for a file of yours"
    )


def _is_same_file(path: str, other: str) -> bool:
    return os.path.exists(other) and os.path.samefile(path, other)


def _normalise_own_path(path: str) -> str:
    """An address in a bucket as it is; any other path in its shortest form.

    Raises `ValueError` as `normalise_path` does.
    """
    if is_in_bucket(path):
        _refuse_signs(path)
        return path
    return _relative_path(normalise_path(path))


def _relative_path(path: str) -> str:
    """A path below the working folder, made relative to it, so that a moved project keeps its names."""
    here = os.getcwd()
    return os.path.relpath(path, here) if path == here or path.startswith(f"{here}/") else path


PlainPath = Annotated[str, Field(min_length=1), AfterValidator(normalise_path)]
"""A path in its shortest form."""

_OWN = AfterValidator(_normalise_own_path)
Path = Annotated[str, Field(min_length=1), _OWN]
"""A file or folder of the user, or an address in a bucket; relative paths start in the workflow's working folder."""


def own_paths(settings: Any, where: str, are_paths: bool = False) -> Iterator[tuple[str, str]]:
    """The user's files and folders in validated settings below the key `where`, each with the path of its key.

    They are the texts in fields whose type names `Path`; with `are_paths`, all texts are. The paths in a list have the
    key of the list.
    """
    if isinstance(settings, RootModel):
        yield from own_paths(settings.root, where)
    elif isinstance(settings, BaseModel):
        named = _path_fields(type(settings))
        for name in type(settings).model_fields:
            yield from own_paths(getattr(settings, name), f"{where}.{name}", name in named)
    elif isinstance(settings, Mapping):
        for name, one in settings.items():
            yield from own_paths(one, f"{where}.{name}", are_paths)
    elif isinstance(settings, list):
        for one in settings:
            yield from own_paths(one, where, are_paths)
    elif are_paths and settings is not None:
        yield where, settings


@cache
def _path_fields(kind: type[BaseModel]) -> set[str]:
    """The fields of a model whose type names `Path`."""
    return {
        name for name, field in kind.model_fields.items() if any(map(_names_path, (field.annotation, *field.metadata)))
    }


def _names_path(kind: Any) -> bool:
    return kind is _OWN or any(map(_names_path, get_args(kind)))


def as_list(value: Any) -> Any:
    """A list in the place of a single text."""
    return [value] if isinstance(value, str) else value


def _check_addresses(addresses: list[str]) -> list[str]:
    if len(set(addresses)) < len(addresses):
        raise ValueError("an address occurs twice")
    return addresses


Addresses = Annotated[
    list[Annotated[str, Field(pattern="^https?://")]],
    Field(min_length=1),
    AfterValidator(_check_addresses),
    BeforeValidator(as_list, json_schema_input_type=str | list[str]),
]
"""Addresses of one file, in the order in which they are tried; a single one needs no list."""


class Source(Strict):
    """A file that is obtained: from an address, a hub, by hand, from a rule of this workflow, or the project."""

    file: str = Field(pattern=r"^[^/{}\x00-\x1f\x7f]+$", description="file name under resources/<owner>/")
    url: Addresses | None = Field(
        None, description="its address, or several that are tried in order; none if it is obtained by hand"
    )
    hub: str | None = Field(
        None,
        pattern=r"^(datasets/)?[\w.-]+/[\w.-]+$",
        description="the repository of the Hugging Face Hub that has it, such as "
        "laion/CLIP-ViT-B-32-laion2B-s34B-b79K or datasets/nlphuji/flickr30k; its own library downloads it",
    )
    revision: str | None = Field(None, pattern="^[0-9a-f]{40}$", description="with hub: the commit")
    path: str | None = Field(
        None,
        pattern=r"^[^/{}\x00-\x1f\x7f]+(/[^/{}\x00-\x1f\x7f]+)*$",
        description="with hub: the file's path in the repository, such as test/0.tar; by default `file`",
    )
    manual: str | None = Field(None, min_length=1, description="instructions to obtain it by hand")
    made_by: Literal["make_scenes"] | None = Field(None, description="the rule that makes it")
    packaged: PlainPath | None = Field(None, description="a file that comes with the project, from its folder")
    size: int | None = Field(None, gt=0, description="bytes, where known")
    sha256: str | None = Field(
        None, pattern="^[0-9a-f]{8,64}$", description="the sha256, or its start if only that is known"
    )
    md5: str | None = Field(None, pattern="^[0-9a-f]{32}$", description="where only that is published")
    sha1: str | None = Field(None, pattern="^[0-9a-f]{40}$", description="where only that is published")
    licence: str = Field(description="its licence or terms of use")
    note: str | None = Field(None, description="further information about it")

    @property
    def addresses(self) -> list[str]:
        """The addresses where it is obtained, if any, or the address of a hub's file."""
        hub = (
            [f"https://huggingface.co/{self.hub}/resolve/{self.revision}/{self.path or self.file}"] if self.hub else []
        )
        return self.url or hub

    @model_validator(mode="after")
    def _check_source(self) -> Self:
        if self.file in (".", ".."):
            raise ValueError(f"file: {self.file!r} is a folder; name a file")
        if [self.url, self.hub, self.manual, self.made_by, self.packaged].count(None) != 4:
            raise ValueError(
                "a source has one of url, hub (a repository), manual (instructions to obtain it), made_by (a rule) and "
                "packaged (a file)"
            )
        if self.path and not self.hub:
            raise ValueError("path: only a file of a hub's repository has one")
        if bool(self.hub) != bool(self.revision):
            raise ValueError("revision: a file of a hub's repository needs the commit, and no other has one")
        if self.hub and not self.sha256:
            raise ValueError("sha256: a file of a hub's repository needs it; the page of the file shows it")
        return self


def manual_advice(path: str | os.PathLike[str], manual: str) -> str:
    """Says how a person obtains a file that no address gives; `manual` has the instructions."""
    return f"{os.fspath(path)}: obtain this file by hand. {manual}\n{own_file_advice(path)}"


def own_file_advice(path: str | os.PathLike[str]) -> str:
    """Says how a user's own file replaces the file of a source at `path`."""
    owner = os.path.basename(os.path.dirname(path))
    return (
        f"You can also use your own file: put it at {os.fspath(path)}, or name it in config/config.yaml as `local` of "
        f"the data set (there by the source's name), network or word vectors {owner}."
    )
