"""The settings that footnotes name are read from the lineage of a row's retrievals."""

import pytest

from densevse.report.made_with import choices, descriptions

WHOLE = {"network": "vgg19", "architecture": "vgg19", "precision": "fp32", "view": "whole", "parents": {}}
PROPOSALS = {"proposals": {"proposer": "fast", "parents": {"images": {"parents": {}}}}}
REGIONS = {"network": "rcnn", "architecture": "alexnet", "precision": "bf16", "view": "regions", "parents": PROPOSALS}
PARSES = {"parser": "corenlp_pcfg", "kind": "corenlp", "parents": {}}
ENTRY = {"architecture": "vgg19", "precision": "auto", "weights": None, "local": None, "trained_on": None}


def model(**parents):
    """A model's lineage, with the lineage of each parent."""
    return {"round": 0, "training": {"batch_size": 2}, "parents": parents}


def retrieval(made_by):
    return {"protocol": "full", "parents": {"model": made_by}}


def concepts(weights, **regions):
    """The scores of a concept network, whose concepts come from parsed sentences."""
    made = {**weights, "parents": {"concepts": {"parents": {"parses": PARSES}}}}
    return {
        "concept_network": "multi",
        "view": "concepts",
        "parents": {"regions": {**REGIONS, **regions}, "weights": made},
    }


def given(view, format="array", mean=False, **parents):
    """The lineage of given features."""
    of = {"network": "butd", "view": view, "format": format, "mean": mean, "files": {"path": "mine.npy"}}
    return {**of, "parents": {"images": {"parents": {}}, **parents}}


def test_regions_have_a_network_and_a_proposer_and_sentences_a_parser():
    vectors = {"vectors": "glove", "parents": {"words": {"parents": {}}}}
    made_by = model(view_regions=REGIONS, parses=PARSES, word_vectors=vectors)
    assert choices([retrieval(made_by)]) == {
        "network of regions": "rcnn",
        "proposer": "fast",
        "parser": "corenlp_pcfg",
        "word vectors": "glove",
    }


def test_phrases_are_of_the_model_that_embedded_them():
    made_by = model(view_regions=REGIONS)
    above = {"embeddings": {"parents": {"model": made_by}}, "true_regions": {"parents": {"model": made_by}}}
    assert choices([{"parents": above}])["network of regions"] == "rcnn"


@pytest.mark.parametrize(
    ("scores", "network"), [(concepts({}), "rcnn"), (concepts({"built_from": "vgg19"}, network="multi"), "vgg19")]
)
def test_a_concept_network_is_named_with_the_network_that_it_is_built_from(scores, network):
    """That whose features its head reads, or that whose layers were all trained."""
    found = choices([retrieval(model(view_concepts=scores, view_ten_crop={**WHOLE, "view": "ten_crop"}))])
    assert list(found.items()) == [
        ("network of ten_crop", "vgg19"),
        ("network of concepts", network),
        ("concepts", "multi"),
        ("parser", "corenlp_pcfg"),
        ("word vectors", "learned"),
    ]


def test_the_pixels_that_a_network_is_trained_on_are_those_of_regions():
    assert choices([retrieval(model(view_crops=REGIONS))])["network of regions"] == "rcnn"


def test_sentences_about_images_are_told_by_the_network_of_their_writer():
    written = {"decoding": {}, "parents": {"generator": model(view_whole=WHOLE)}}
    assert choices([retrieval(model(view_generated_captions=written))])["network of whole"] == "vgg19"
    vectors = {"vectors": "glove", "parents": {}}
    through = {"generator": model(parses=PARSES), "joint_embedding": model(view_whole=WHOLE, word_vectors=vectors)}
    found = choices([retrieval(model(view_generated_captions={"decoding": {}, "parents": through}))])
    assert found == {"network of whole": "vgg19", "parser": "corenlp_pcfg", "word vectors": "learned"}


def test_an_ensemble_has_the_networks_of_all_its_members():
    alexnet = {**WHOLE, "network": "alexnet"}
    members = {f"member{n}": model(view_whole=one) for n, one in enumerate((WHOLE, alexnet, WHOLE))}
    assert choices([{"parents": members}])["network of whole"] == "alexnet, vgg19"


def test_given_members_of_an_ensemble_are_named_with_their_files_of_all_seeds():
    layout = {"similarity": None, "copies": 1, "unscored": None}
    runs = [
        {
            "given_members": [{"name": "mine", "given": {"scores": file}, "layout": layout}],
            "parents": {"member0": model(view_whole=WHOLE)},
        }
        for file in ("a.npy", "b.npy")
    ]
    found = choices(runs)
    assert (found["network of whole"], found["given"]) == ("vgg19", "scores a.npy, b.npy of mine")


@pytest.mark.parametrize(
    ("features", "said"),
    [
        (given("whole"), "mine.npy"),
        (given("whole", "scan", mean=True), "the mean of the regions in the folder of the data set"),
        (given("regions", whole=given("whole")), "mine.npy, region 0 by a file"),
        (given("regions", whole=given("whole", mean=True)), "mine.npy, region 0 by the mean of the regions"),
        (given("regions", whole=WHOLE), "mine.npy, region 0 by vgg19"),
    ],
)
def test_given_features_are_named_with_the_files_that_they_were_read_from(features, said):
    found = choices([retrieval(model(**{f"view_{features['view']}": features}))])
    assert found == {f"network of {features['view']}": f"butd (given: {said})", "word vectors": "learned"}


def test_concepts_may_be_scored_on_given_regions():
    scores = concepts({})
    scores["parents"]["regions"] = given("regions", "scan", whole=given("whole", mean=True))
    said = "butd (given: the folder of the data set, region 0 by the mean of the regions)"
    assert choices([retrieval(model(view_concepts=scores))])["network of concepts"] == said


def test_an_untrained_model_has_a_network_and_no_words():
    made_by = {"untrained": True, "features": {"whole": {"network": "clip", "architecture": "b"}}, "parents": {}}
    assert choices([retrieval(made_by)]) == {
        "network of whole": "clip",
        "word vectors": "none, as nothing is trained",
    }
    assert descriptions([[retrieval(made_by)]], {"clip": {**ENTRY, "local": "clip.safetensors"}}) == [
        "clip is b, weights from clip.safetensors, auto"
    ]


def test_a_given_row_has_the_files_of_all_its_seeds_and_its_options():
    layout = {"similarity": None, "copies": 1, "unscored": None}
    runs = [{"given": {"scores": name}, "layout": layout, "parents": {}} for name in ("a.npy", "b.npy")]
    assert choices(runs) == {"given": "scores a.npy, b.npy"}
    files = {"image_ids": "ids.txt", "images": "i.npz", "sentences": "s.npz"}
    vectors = {"given": files, "layout": {"similarity": "cosine", "copies": 5, "unscored": None}, "parents": {}}
    assert choices([vectors]) == {
        "given": "images i.npz; sentences s.npz; image_ids ids.txt; similarity cosine; copies 5"
    }


@pytest.mark.parametrize(
    ("entry", "origin"),
    [
        ({}, "random weights"),
        ({"weights": {"file": "v.pth"}}, "weights v.pth"),
        ({"local": "mine.pth", "weights": {"file": "v.pth"}}, "weights from mine.pth"),
        ({"trained_on": "scenes"}, "trained here on scenes"),
    ],
)
def test_a_network_has_the_precision_of_its_features_and_the_weights_of_its_entry(entry, origin):
    row = [retrieval(model(view_whole=WHOLE))]
    assert descriptions([row, row], {"vgg19": {**ENTRY, **entry}}) == [f"vgg19 is vgg19, {origin}, fp32"]


def test_the_precision_that_was_chosen_is_named():
    chosen = {**WHOLE, "precision": "auto", "parents": {"precision": {"precision": "bf16", "parents": {}}}}
    row = [retrieval(model(view_whole=chosen))]
    assert descriptions([row], {"vgg19": {**ENTRY, "local": "a.pth"}}) == ["vgg19 is vgg19, weights from a.pth, bf16"]


def test_networks_that_only_lie_further_back_are_not_described():
    start = model(view_whole={**WHOLE, "network": "alexnet"})
    row = [retrieval(model(view_whole=WHOLE, start=start))]
    assert len(descriptions([row], dict.fromkeys(("vgg19", "alexnet"), ENTRY))) == 1


def test_a_retrieval_without_a_model_says_nothing():
    assert choices([{"parents": {}}]) == {}
