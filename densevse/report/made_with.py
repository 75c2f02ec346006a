"""Says how the rows of a table were made, in the words of the footnotes, by the statements of their files."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from densevse.artifacts.schemas.features import PREPROCESSING, network_settings
from densevse.config.given import GivenFiles, GivenLayout
from densevse.config.registries import feature_view
from densevse.runtime import exact
from snakeproof.jobs import REVISIONS
from snakeproof.statements import Statement, ancestors, parents

_VIEW = "view_"


class ReadFeatures(NamedTuple):
    """The features of a view that a model reads."""

    view: str
    network: str  # that computed them, or of which their concept network is built
    settings: dict[str, Any]  # of the network; of given features, of their files
    weights: str  # in words; empty of given features
    proposer: str | None = None
    concepts: str | None = None  # the concept network
    preprocessing: str = ""  # in words

    def __str__(self) -> str:
        return f"{self.network} (given: {_source(self.settings)})" if "files" in self.settings else self.network

    def describe(self) -> str:
        """The architecture, weights, precision and preprocessing of the network, and how it reads boxes."""
        read = f" ({self.preprocessing})" if self.preprocessing else ""
        stored = f", stored as {self.settings['dtype']}" if "dtype" in self.settings else ""
        computed = f"{self.settings['precision']}{stored}{read}"
        made = f"{self.network} is {self.settings['architecture']}, {self.weights}, {computed}"
        options = self.settings.get("regions") or {}
        if "roi_align" not in (options.get("scoring"), options.get("features")):
            return made  # each box is a crop, as in R-CNN
        size = f" of {options['map_size']} pixels" if options.get("map_size") else ""
        how = "read from" if options.get("features") == "roi_align" else "chosen on"
        return f"{made}, boxes are {how} one map of the image{size}"


def choices(retrievals: Sequence[Statement]) -> dict[str, str]:
    """The choices that made a row, by their names in the footnotes; `retrievals` has the statement of each seed's.

    They are the network of each view, concepts, proposer, parser and word vectors; or the files of a given row.
    """
    if any("given" in made.found for made in retrievals):
        rows = [(made.found["given"], made.given.get("layout", {})) for made in retrievals]
        zeros = [f"{count:,} vectors of {key} are zero" for key, count in _zeros(retrievals).items()]
        return {"given": "; ".join([_files_and_options(rows), *_encoders(retrievals), *zeros])}
    members: dict[str, list[tuple[Any, Any]]] = {}
    for made in retrievals:
        for member in made.found.get("given_members", []):
            members.setdefault(member["name"], []).append((member["given"], member["layout"]))
    read = [features for made in retrievals for features in input_features(made)]
    found: dict[str, list[str]] = {}
    for one in read:
        found.setdefault(f"network of {one.view}", []).append(str(one))
    found["concepts"] = [one.concepts for one in read if one.concepts]
    found["proposer"] = [one.proposer for one in read if one.proposer]
    above = [one for made in retrievals for one in ancestors(made)]
    found["parser"] = [one.names["parser"] for one in above if "parser" in one.names]
    found["word vectors"] = [_word_vectors(model) for made in retrievals for model in _models(made)]
    found["given"] = [f"{_files_and_options(rows)} of {name}" for name, rows in members.items()]
    return {what: ", ".join(sorted({*names})) for what, names in found.items() if names}


def is_exact(made: Statement) -> bool:
    """True for a file of an exact job; not for adopted and given numbers, which may be of any processor."""
    was_exact = exact.REVISION in made.given.get(REVISIONS, {})
    return was_exact and not made.adopted and made.found.keys().isdisjoint(("given", "given_members", "files"))


def _zeros(retrievals: Sequence[Statement]) -> dict[str, int]:
    """The most zero vectors of a seed of a given row, by key."""
    counts = [made.found.get("zeros", {}) for made in retrievals]
    return {key: max(one.get(key, 0) for one in counts) for one in counts for key in one}


def descriptions(rows: Iterable[Sequence[Statement]]) -> list[str]:
    """A description of each network of `rows`, which has the statements of each row."""
    read = [one for retrievals in rows for made in retrievals for one in input_features(made)]
    return sorted({one.describe() for one in read if "architecture" in one.settings})


def input_features(made: Statement) -> list[ReadFeatures]:
    """The features of images that a file was made from, also through sentences about images; concepts come last."""
    return sorted(_input_features(made), key=lambda one: one.concepts is not None)


def _input_features(made: Statement) -> Iterator[ReadFeatures]:
    for name in sorted(made.inputs):
        if name == "embeddings":
            yield from _input_features(_first_input(made, name))
        elif name.startswith(_VIEW):
            features = _first_input(made, name)
            writers = [one for of in ("model", "joint_embedding") for one in parents(features).get(of, [])]
            if writers:
                yield from (one for writer in writers for one in _input_features(writer))
            else:
                yield _view_features(feature_view(name.removeprefix(_VIEW)), features)


def _first_input(made: Statement, name: str) -> Statement:
    """The first file of an input; of features that are gone what their place says, <data set>/features/<network>/..."""
    there = parents(made).get(name)
    return there[0] if there else Statement(wildcards={"network": next(iter(made.inputs[name])).split("/")[2]})


def _view_features(view: str, features: Statement) -> ReadFeatures:
    concepts = features.wildcards.get("concept_network")
    by = _first_input(features, "regions") if concepts else features
    settings, trained = network_settings(by), parents(by).get("weights", [])
    proposer = by.wildcards.get("proposer") if "proposals" in by.inputs and not concepts else None
    weights = _origin(by, settings)
    job = trained[0].given.get("job", {}) if trained else {}
    if "built_from" in job:  # a network of concepts of which all layers were trained
        settings = {**settings, "architecture": job["architecture"]}
        weights = _origin(trained[0], settings)
    if (whole := parents(by).get("whole")) is not None:
        settings["whole"] = network_settings(whole[0])
    network = job.get("built_from") or settings["network"]
    return ReadFeatures(view, network, settings, weights, proposer, concepts, by.found.get(PREPROCESSING, ""))


def _origin(features: Statement, settings: dict[str, Any]) -> str:
    """The weights of the network that computed features, or with which the training of one began."""
    for name in ("weights", "start"):
        for place in features.inputs.get(name, {}):
            folder, below, _ = place.partition("/")
            own = features.contents.get(name) if isinstance(features.contents, Mapping) else features.contents
            return f"trained here on {folder}" if below else f"weights {'from ' if own else ''}{folder}"
    return "" if "files" in settings else "random weights"


def _models(made: Statement) -> list[Statement]:
    """The models of a retrieval: one, the members of an ensemble, or that of the embeddings of phrases."""
    above = parents(made)
    if "embeddings" in above:
        return _models(above["embeddings"][0])
    return [*above.get("model", []), *above.get("models", [])]


def _source(given: dict[str, Any]) -> str:
    """The files that given features were read from."""
    file = "the folder of the data set" if given.get("format") == "scan" else given["files"]["path"]
    if given.get("mean"):
        return f"the mean of the regions in {file}"
    whole = given.get("whole")
    if whole is None:
        return str(file)
    own = "the mean of the regions" if whole.get("mean") else "a file"
    return f"{file}, region 0 by {own if whole['network'] == given['network'] else whole['network']}"


def _word_vectors(model: Statement) -> str:
    if model.found.get("untrained"):
        return "none, as nothing is trained"
    vectors = parents(model).get("word_vectors")
    return vectors[0].names["vectors"] if vectors else "learned"


def _encoders(retrievals: Sequence[Statement]) -> list[str]:
    """What made the vectors of a given row, where the workflow made them."""
    made = [one.found.get("encoded_by", {}) for each in retrievals for one in parents(each).get("images", [])]
    return list(dict.fromkeys(", ".join(f"{key} {value}" for key, value in one.items()) for one in made if one))


def _files_and_options(rows: Sequence[tuple[Any, Any]]) -> str:
    """A given row's files, and those of its options that are set; `rows` has both for each seed."""
    keys = [key for key in GivenFiles.model_fields if key in rows[0][0]]
    files = [f"{key} {', '.join(dict.fromkeys(named[key] for named, _ in rows))}" for key in keys]
    options = GivenLayout.model_validate(rows[0][1]).model_dump(exclude_defaults=True)
    return "; ".join([*files, *(f"{key} {value}" for key, value in options.items())])
