"""Derives from lineage how the rows of a table were made, in the words of the footnotes."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from densevse.artifacts.lineage import PARENTS, ancestors
from densevse.config.given import GivenFiles, GivenLayout

Lineage: TypeAlias = Mapping[str, Any]

_VIEW = "view_"


def choices(retrievals: Sequence[Lineage]) -> dict[str, str]:
    """The choices that made a row, by their names in the footnotes; `retrievals` has the lineage of each seed's.

    They are the network of each view, concepts, proposer, parser and word vectors; or the files of a given row.
    """
    if any("given" in made for made in retrievals):
        return {"given": _files_and_options(retrievals)}
    given: dict[str, list[Lineage]] = {}
    for made in retrievals:
        for member in made.get("given_members", []):
            given.setdefault(member["name"], []).append(member)
    models = [model for made in retrievals for model in _models(made)]
    found: dict[str, list[str]] = {}
    for view, features in _seen(models):
        found.setdefault(f"network of {view}", []).append(_described(features))
    seen = [features for _, features in _seen(models)]
    above = [settings for made in retrievals for _, settings in ancestors(made)]
    found["concepts"] = [one["concept_network"] for one in seen if "concept_network" in one]
    found["proposer"] = [one[PARENTS]["proposals"]["proposer"] for one in seen if "proposals" in one.get(PARENTS, {})]
    found["parser"] = [one["parser"] for one in above if "parser" in one]
    found["word vectors"] = [_word_vectors(model) for model in models]
    found["given"] = [f"{_files_and_options(members)} of {name}" for name, members in given.items()]
    return {what: ", ".join(sorted({*names})) for what, names in found.items() if names}


def descriptions(rows: Iterable[Sequence[Lineage]], configured: Mapping[str, Lineage]) -> list[str]:
    """The architecture, weights and precision of each network of `rows`, which has the lineages of each row.

    `configured` has the networks' settings in the configuration, which alone says where weights come from.
    """
    models = [model for retrievals in rows for made in retrievals for model in _models(made)]
    seen = [features for _, features in _seen(models)]
    own = {read["network"]: read for read in map(_looked_through, seen)}
    names = sorted({*map(_network, seen)} & configured.keys())
    return [f"{name} is {_description({**configured[name], **own.get(name, {})})}" for name in names]


def _models(made_from: Lineage) -> list[Lineage]:
    """The models of a retrieval: one, the members of an ensemble, or that of the embeddings of phrases."""
    above = made_from.get(PARENTS, {})
    if "embeddings" in above:
        return _models(above["embeddings"])
    return [model for name, model in above.items() if name.startswith(("model", "member"))]


def _seen(models: Iterable[Lineage]) -> Iterator[tuple[str, Lineage]]:
    """The views of images that models read, with their features, also through sentences about images.

    Scores of concepts come last. An untrained model has its networks in the place of features.
    """
    for model in models:
        opened = {name.removeprefix(_VIEW): one for name, one in model[PARENTS].items() if name.startswith(_VIEW)}
        for view, read in sorted((opened or model.get("features", {})).items(), key=_is_of_concepts):
            writers = [one for name, one in read.get(PARENTS, {}).items() if name in ("generator", "joint_embedding")]
            if writers:
                yield from _seen(writers)
            else:
                yield read.get("view", view), read


def _is_of_concepts(view: tuple[str, Lineage]) -> bool:
    return "concept_network" in view[1]


def _looked_through(features: Lineage) -> Lineage:
    """The features by a network: these, or the regions whose concepts are scored."""
    found: Lineage = features[PARENTS]["regions"] if "concept_network" in features else features
    return found


def _network(features: Lineage) -> str:
    """The network of features, or of which a concept network is built."""
    weights = features.get(PARENTS, {}).get("weights", {})
    return str(weights.get("built_from") or _looked_through(features)["network"])


def _described(features: Lineage) -> str:
    """The network of features by its name; given features with the files that they were read from."""
    name, read = _network(features), _looked_through(features)
    return f"{name} (given: {_source(read)})" if "files" in read else name


def _source(given: Lineage) -> str:
    """The files that given features were read from."""
    file = "the folder of the data set" if given["format"] == "scan" else given["files"]["path"]
    if given["mean"]:
        return f"the mean of the regions in {file}"
    whole = given[PARENTS].get("whole")
    if whole is None:
        return str(file)
    own = "the mean of the regions" if whole.get("mean") else "a file"
    return f"{file}, region 0 by {own if whole['network'] == given['network'] else whole['network']}"


def _word_vectors(model: Lineage) -> str:
    if model.get("untrained"):
        return "none, as nothing is trained"
    return str(model[PARENTS].get("word_vectors", {}).get("vectors", "learned"))


def _files_and_options(retrievals: Sequence[Lineage]) -> str:
    """A given row's files, and those of its options that are set."""
    keys = [key for key in GivenFiles.model_fields if key in retrievals[0]["given"]]
    files = [f"{key} {', '.join(dict.fromkeys(made['given'][key] for made in retrievals))}" for key in keys]
    options = GivenLayout.model_validate(retrievals[0]["layout"]).model_dump(exclude_defaults=True)
    return "; ".join([*files, *(f"{key} {value}" for key, value in options.items())])


def _description(network: Lineage) -> str:
    if network["trained_on"]:
        origin = f"trained here on {network['trained_on']}"
    elif network["local"]:
        origin = f"weights from {network['local']}"
    else:
        origin = f"weights {network['weights']['file']}" if network["weights"] else "random weights"
    chosen = network.get(PARENTS, {}).get("precision", network)["precision"]
    return f"{network['architecture']}, {origin}, {chosen}"
