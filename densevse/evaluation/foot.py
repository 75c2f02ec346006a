"""What stands above and below a table of results: on which data it was measured, how, and with what."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from densevse.evaluation.protocols import TestSet, folds

PROTOCOLS = {
    "full": "every sentence against every image",
    "five_folds": "figures are the mean of five folds of {fold} images",
    "first_1000": "the first {fold} images",
    "hodosh": "only the first sentence of each image",
}
COMPUTED = "Random is the expected result of ranking by chance on these images and sentences, by formula."
TIES = (
    "Rank: 1 + the wrong candidates that score at least as high as the best true one, so a tie is never a hit. "
    "Figures are means over seeds, ± is the standard deviation of Sum over them."
)
DIFFERENCE = (
    "Ours stands beside a published row of the same method; Difference is ours minus the published row, summed over "
    "the recalls which that row prints. An empty side was not printed, or not measured here."
)


def title(settings: Mapping[str, Any], test_set: TestSet) -> str:
    """Data set, split, number of images and sentences, protocol, and what read the images and sentences."""
    chosen = folds(test_set, settings["protocol"])
    images = len(np.unique(np.concatenate([fold.images for fold in chosen])))
    sentences = len(np.unique(np.concatenate([fold.captions for fold in chosen])))
    protocol = PROTOCOLS[settings["protocol"]].format(fold=f"{len(chosen[0].images):,}")
    parts = [f"{settings['title']}: test split, {images:,} images, {sentences:,} sentences, {protocol}"]
    parts += [f"networks {', '.join(f'{view} {name}' for view, name in _networks(settings).items())}"]
    parts += [f"proposer {settings['dataset']['proposer']}"] if "regions" in _networks(settings) else []
    parts += [f"parser {settings['dataset']['parser']}"] if _reads(settings, "trees") else []
    return "; ".join(part for part in parts if not part.endswith(" "))


def notes(
    settings: Mapping[str, Any],
    papers: Iterable[Mapping[str, str]],
    test_set: TestSet,
    images: pd.DataFrame,
    made_from: Sequence[Mapping[str, Any]],
) -> list[str]:
    """The foot: how to read the figures, what differs from the papers, and what the run was made with.

    `papers` are those with a row in the table; `made_from` is that of every RETRIEVAL artifact in it.
    """
    papers = list(papers)
    used = [f"{name} ({_weights(settings['networks'][name])})" for name in sorted(set(_networks(settings).values()))]
    given = settings["dataset"]["word_vectors"] if any(v["word_vectors"] for v in _variants(settings)) else None
    return [
        COMPUTED,
        TIES,
        *([DIFFERENCE] if papers else []),
        *_left_out(test_set, images),
        *(f"{paper['name']}: {paper['title']}. Published with {paper['used']}." for paper in papers),
        f"Ours: networks {', '.join(used) or 'none'}; word vectors {given or 'learned'}; "
        f"{int((images['split'] == 'train').sum()):,} training and {len(test_set.image_ids):,} test images."
        f"{' Figures compare as far as this is what the papers used.' if papers else ''}",
        *_seeds(settings["measured"]),
        *_devices(made_from),
        f"Config {_digest(settings)}. Versions: {_versions(made_from)}.",
    ]


def _variants(settings: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return list(settings["variants"].values())


def _networks(settings: Mapping[str, Any]) -> dict[str, str]:
    """The network of each view that the table's variants read."""
    views: dict[str, str] = {}
    for variant in _variants(settings):
        for view in variant["views"]:
            views[view] = variant["networks"].get(view, settings["dataset"]["networks"][view])
    return dict(sorted(views.items()))


def _reads(settings: Mapping[str, Any], what: str) -> bool:
    return any(what in variant["sentences"] for variant in _variants(settings))


def _weights(network: Mapping[str, Any]) -> str:
    """Where a network's weights come from, without the folders of this machine."""
    if network["trained_on"]:
        origin = f"trained here on {network['trained_on']}"
    elif network["local"]:
        origin = f"weights from {network['local'].rsplit('/', 1)[-1]}"
    else:
        origin = f"weights {network['weights']['file']}" if network["weights"] else "random weights"
    return f"{network['architecture']}, {origin}, {network['precision']}"


def _left_out(test_set: TestSet, images: pd.DataFrame) -> list[str]:
    silent = len(test_set.image_ids) - len(np.unique(test_set.image_of_caption))
    unreadable = int(((images["split"] == "test") & (images["status"] != "ok")).sum())
    found = [f"{silent:,} test images have no sentence: they are candidates but ask nothing."] if silent else []
    return found + ([f"{unreadable:,} test images cannot be read and are left out."] if unreadable else [])


def _seeds(measured: Mapping[str, list[int]]) -> list[str]:
    """Which seeds were run, named once for the variants that share them."""
    shared: dict[tuple[int, ...], list[str]] = {}
    for name, seeds in measured.items():
        shared.setdefault(tuple(seeds), []).append(name)
    return [f"Seeds {', '.join(map(str, seeds))}: {', '.join(names)}." for seeds, names in shared.items()]


def _devices(made_from: Sequence[Mapping[str, Any]]) -> list[str]:
    devices = {made[key] for made in made_from for key in ("device", "trained_on")}
    return [] if devices <= {"cpu"} else ["Computed on a GPU: another run may differ in the last digits."]


def _digest(settings: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:12]


def _versions(made_from: Sequence[Mapping[str, Any]]) -> str:
    versions = {f"{name} {version}" for made in made_from for name, version in made.get("versions", {}).items()}
    return ", ".join(sorted(versions)) or "nothing was measured"
