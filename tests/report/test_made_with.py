"""The settings that footnotes name are read from the statements of a row's retrievals and of all that they read."""

from dataclasses import replace

import pytest

from densevse.report import footnotes, made_with
from densevse.report.made_with import choices, descriptions
from snakeproof import schema
from snakeproof.schema import TEXT, Column, Schema
from snakeproof.statements import RESULTS, Statement, digest, making, read_statement, result_path

KIND = Schema("made", "a file", (Column("place", TEXT, "where it is"),))
MULTI = "scenes/networks/multi.parquet"


@pytest.fixture(autouse=True)
def results(tmp_path, monkeypatch):
    """A folder of results."""
    monkeypatch.setenv(RESULTS, str(tmp_path / "results"))


def made(place, reads=None, settings=None, found=None, **wildcards):
    """Writes a file that states its job, which `reads` files by the names of inputs; returns the file's place."""
    files = {name: [one] if isinstance(one, str) else one for name, one in (reads or {}).items()}
    inputs = {
        name: {one: digest(result_path(one)) if result_path(one).is_file() else None for one in places}
        for name, places in files.items()
    }
    with making(Statement(given=settings or {}, wildcards=wildcards, inputs=inputs)):
        schema.write([{"place": place}], KIND, result_path(place), **(found or {}))
    return place


def features(network="vgg19", view="whole", weights="v.pth", found=None, of=None, options=None, **reads):
    """Features by a network, whose architecture is that of VGG-19; `of` are further wildcards."""
    decided = {"regions": options} if options else {}
    settings = {"network": {"architecture": "vgg19", "precision": reads.pop("precision", "fp32"), **decided}}
    read = {**({"weights": weights} if weights else {}), **reads}
    place = f"scenes/features/{network}/{view}/00-of-01.parquet"
    return made(place, read, settings, found, network=network, **(of or {"view": view}))


def regions(network="rcnn", **changes):
    """Features of a proposer's regions."""
    proposals = made("scenes/proposals/fast/00-of-01.parquet", proposer="fast")
    return features(network, "regions-fast", of={"proposer": "fast"}, proposals=proposals, **changes)


def parses():
    return made("scenes/parses/corenlp_pcfg/00-of-01.parquet", parser="corenlp_pcfg")


def word_vectors():
    return made("scenes/vocabulary/vectors-glove.parquet", vectors="glove")


def concepts(job, **by):
    """The scores of a concept network, which is trained by a `job`; its concepts come from parsed sentences."""
    mined = made("scenes/vocabulary/concepts.parquet", {"parses": parses()})
    network = made(MULTI, {"concepts": mined, "start": "start.pth"}, {"job": job}, concept_network="multi")
    read = {"regions": regions(**by), "weights": network}
    return made("scenes/features/multi/concepts/00-of-01.parquet", read, concept_network="multi")


def given(view, format="array", mean=False, **whole):
    """Given features."""
    options = {"network": "butd", "view": view, "format": format, "mean": mean}
    place, found = f"scenes/features/butd/{view}/00-of-01.parquet", {"files": {"path": "mine.npy"}}
    return made(place, whole, {"options": options}, found, given="butd", view=view)


def model(name="vse", found=None, **reads):
    """The place of a model and the files that it reads, which the jobs that use it read too."""
    return made(f"scenes/models/{name}/seed0/round0/model.parquet", reads, found=found, variant=name), reads


def retrieval(of_model, name="vse"):
    """The statement of a retrieval by a model."""
    place, reads = of_model
    return read_statement(
        result_path(made(f"scenes/retrieval/{name}.parquet", {**reads, "model": place}, variant=name))
    )


def test_regions_have_a_network_and_a_proposer_and_sentences_a_parser():
    reads = {"view_regions": regions(), "parses": parses(), "word_vectors": word_vectors()}
    assert choices([retrieval(model(**reads))]) == {
        "network of regions": "rcnn",
        "proposer": "fast",
        "parser": "corenlp_pcfg",
        "word vectors": "glove",
    }


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"scoring": "crops", "features": "crops", "map_size": 448}, ""),
        ({"scoring": "roi_align", "features": "crops", "map_size": None}, ", boxes are chosen on one map of the image"),
        (
            {"scoring": "roi_align", "features": "roi_align", "map_size": 448},
            ", boxes are read from one map of the image of 448 pixels",
        ),
    ],
)
def test_what_reads_boxes_otherwise_than_by_crops_says_so(options, said):
    of_regions = retrieval(model(view_regions=regions(options=options)))
    assert descriptions([[of_regions]]) == [f"rcnn is vgg19, weights v.pth, fp32{said}"]


def test_phrases_are_of_the_model_that_embedded_them():
    place, reads = model(view_regions=regions(), word_vectors=word_vectors())
    phrases = made("scenes/embeddings/test.parquet", {**reads, "model": place})
    true = made("scenes/embeddings/true_regions.parquet", {"model": place, "true_regions": features("rcnn", "true")})
    ranking = read_statement(result_path(made("scenes/r.parquet", {"embeddings": phrases, "true_regions": true})))
    found = choices([ranking])
    assert found == {"network of regions": "rcnn", "proposer": "fast", "word vectors": "glove"}
    result_path(phrases).unlink()
    assert choices([ranking]) == {}


@pytest.mark.parametrize(
    ("job", "by", "network", "said"),
    [
        ({"learns_from": "regions"}, {}, "rcnn", "rcnn is vgg19, weights v.pth, fp32"),
        (
            {"built_from": "alexnet", "architecture": "tv_alexnet"},
            {"network": "multi", "weights": MULTI},
            "alexnet",
            "alexnet is tv_alexnet, weights start.pth, fp32",
        ),
    ],
)
def test_a_concept_network_is_named_with_the_network_that_it_is_built_from(job, by, network, said):
    """That whose features its head reads, or that whose layers were all trained."""
    made_by = retrieval(model(view_concepts=concepts(job, **by), view_ten_crop=features(view="ten_crop")))
    assert list(choices([made_by]).items()) == [
        ("network of ten_crop", "vgg19"),
        ("network of concepts", network),
        ("concepts", "multi"),
        ("parser", "corenlp_pcfg"),
        ("word vectors", "learned"),
    ]
    assert descriptions([[made_by]]) == sorted([said, "vgg19 is vgg19, weights v.pth, fp32"])


def test_the_pixels_that_a_network_is_trained_on_are_those_of_regions():
    found = choices([retrieval(model(view_crops=regions()))])
    assert (found["network of regions"], found["proposer"]) == ("rcnn", "fast")


def test_sentences_about_images_are_told_by_the_network_of_their_writer():
    writer, _ = model("nic", view_whole=features())
    written = made("scenes/generated_captions/nic/test.parquet", {"model": writer})
    assert choices([retrieval(model(view_generated_captions=written))])["network of whole"] == "vgg19"
    space, _ = model("space", view_whole=features(), word_vectors=word_vectors())
    writer, _ = model("sc_nlm", parses=parses(), joint_embedding_train=made("scenes/e.parquet", {"model": space}))
    written = made("scenes/generated_captions/sc_nlm/test.parquet", {"model": writer, "joint_embedding": space})
    found = choices([retrieval(model(view_generated_captions=written))])
    assert found == {"network of whole": "vgg19", "parser": "corenlp_pcfg", "word vectors": "learned"}


def test_an_ensemble_has_the_networks_and_the_word_vectors_of_all_its_members():
    members = [model("a", view_whole=features()), model("b", view_regions=regions(), word_vectors=word_vectors())]
    reads = {name: file for _, read in members for name, file in read.items()}
    place = made("scenes/retrieval/both.parquet", {**reads, "models": [place for place, _ in members]})
    assert choices([read_statement(result_path(place))]) == {
        "network of regions": "rcnn",
        "network of whole": "vgg19",
        "proposer": "fast",
        "word vectors": "glove, learned",
    }


def test_given_members_of_an_ensemble_are_named_with_their_files_of_all_seeds():
    layout = {"similarity": None, "copies": 1, "unscored": None}
    place, reads = model(view_whole=features())
    runs = [
        made(
            f"scenes/{file}.parquet",
            {**reads, "models": place},
            found={"given_members": [{"name": "mine", "given": {"scores": file}, "layout": layout}]},
        )
        for file in ("a.npy", "b.npy")
    ]
    found = choices([read_statement(result_path(run)) for run in runs])
    assert (found["network of whole"], found["given"]) == ("vgg19", "scores a.npy, b.npy of mine")


@pytest.mark.parametrize(
    ("view", "read", "said"),
    [
        ("whole", lambda: given("whole"), "mine.npy"),
        (
            "whole",
            lambda: given("whole", "scan", mean=True),
            "the mean of the regions in the folder of the data set",
        ),
        ("regions", lambda: given("regions", whole=given("whole")), "mine.npy, region 0 by a file"),
        (
            "regions",
            lambda: given("regions", whole=given("whole", mean=True)),
            "mine.npy, region 0 by the mean of the regions",
        ),
        ("regions", lambda: given("regions", whole=features()), "mine.npy, region 0 by vgg19"),
    ],
)
def test_given_features_are_named_with_the_files_that_they_were_read_from(view, read, said):
    made_by = retrieval(model(**{f"view_{view}": read()}))
    assert choices([made_by]) == {f"network of {view}": f"butd (given: {said})", "word vectors": "learned"}
    assert descriptions([[made_by]]) == []


def test_concepts_may_be_scored_on_given_regions():
    scores = concepts({"learns_from": "whole"})
    of_given = given("regions", "scan", whole=given("whole", mean=True))
    made(scores, {"regions": of_given, "weights": MULTI}, concept_network="multi")
    said = "butd (given: the folder of the data set, region 0 by the mean of the regions)"
    found = choices([retrieval(model(view_concepts=scores))])
    assert (found["network of concepts"], found["concepts"]) == (said, "multi")
    assert "proposer" not in found


def test_an_untrained_model_has_a_network_and_no_words():
    place, _ = model("clip", found={"untrained": True})
    made_by = retrieval((place, {"view_whole": features("clip", weights="clip.safetensors")}))
    assert choices([made_by]) == {"network of whole": "clip", "word vectors": "none, as nothing is trained"}
    assert descriptions([[made_by]]) == ["clip is vgg19, weights clip.safetensors, fp32"]


def test_a_given_row_has_the_files_of_all_its_seeds_and_its_options():
    layout = {"similarity": None, "copies": 1, "unscored": None}
    runs = [Statement(given={"layout": layout}, found={"given": {"scores": name}}) for name in ("a.npy", "b.npy")]
    assert choices(runs) == {"given": "scores a.npy, b.npy"}
    files = {"image_ids": "ids.txt", "images": "i.npz", "sentences": "s.npz"}
    layout = {"similarity": "cosine", "copies": 5, "unscored": None}
    assert choices([Statement(given={"layout": layout}, found={"given": files})]) == {
        "given": "images i.npz; sentences s.npz; image_ids ids.txt; similarity cosine; copies 5"
    }


@pytest.mark.parametrize(
    ("weights", "origin"),
    [
        (None, "random weights"),
        ("v.pth", "weights v.pth"),
        ("scenes/networks/vgg19.parquet", "trained here on scenes"),
    ],
)
def test_a_network_has_its_precision_and_the_origin_of_its_weights(weights, origin):
    made("scenes/networks/vgg19.parquet", settings={"job": {"epochs": 2}})
    row = [retrieval(model(view_whole=features(weights=weights)))]
    assert descriptions([row, row]) == [f"vgg19 is vgg19, {origin}, fp32"]


def test_weights_of_the_users_own_are_said_to_be_from_a_file():
    of_file = Statement(wildcards={"network": "v"}, inputs={"weights": {"v.pth": None}})
    for contents in (["0f"], {"weights": ["0f"], "class_names": []}):
        assert made_with._origin(replace(of_file, contents=contents), {}) == "weights from v.pth"
    assert made_with._origin(replace(of_file, contents={"weights": []}), {}) == "weights v.pth"


def test_the_precision_that_was_chosen_is_named():
    row = [retrieval(model(view_whole=features(precision="auto", found={"precision": "bf16"})))]
    assert descriptions([row]) == ["vgg19 is vgg19, weights v.pth, bf16"]


def test_networks_that_only_lie_further_back_are_not_described():
    start, _ = model("start", view_whole=features("alexnet"))
    place, reads = model(view_whole=features(), start=start)
    assert len(descriptions([[retrieval((place, {"view_whole": reads["view_whole"]}))]])) == 1


def test_features_that_are_gone_are_known_by_their_place():
    read = {"view_whole": features(), "view_concepts": concepts({"learns_from": "whole"})}
    made_by = retrieval(model(**read))
    known = choices([made_by])
    for place in (read["view_whole"], "scenes/features/rcnn/regions-fast/00-of-01.parquet"):
        result_path(place).unlink()
    assert choices([made_by]) == known
    result_path(read["view_concepts"]).unlink()
    assert choices([made_by])["network of whole"] == "vgg19"
    assert descriptions([[made_by]]) == []


def test_what_is_carried_is_read_where_files_are_not_at_hand():
    place, files = (
        model(view_whole=features(), word_vectors=word_vectors()),
        [*result_path("scenes").rglob("*.parquet")],
    )
    made_by = retrieval(place)
    known = choices([made_by]), descriptions([[made_by]])
    above = {digest(file): read_statement(file).own_values for file in files}
    for file in files:
        file.unlink()
    carrying = Statement(inputs=made_by.inputs, above=above)
    assert (choices([carrying]), descriptions([[carrying]])) == known


def test_a_retrieval_without_a_model_says_nothing():
    assert choices([Statement()]) == {}


def test_the_preprocessing_of_a_network_is_named():
    found = {"preprocessing": "mean (0, 0, 0)", "weights_sha256": "0"}
    row = made("scenes/retrieval/full/a/seed0/round0.parquet", {"view_whole": features(found=found)})
    (line,) = descriptions([[read_statement(result_path(row))]])
    assert line == "vgg19 is vgg19, weights v.pth, fp32 (mean (0, 0, 0))"
    assert "preprocessing" not in made_with.input_features(read_statement(result_path(row)))[0].settings


EXACT = {"revisions": {"exact": 1}}


def test_a_table_is_exact_only_if_its_job_and_all_that_it_was_made_from_are():
    def of(table=EXACT, retrieval=EXACT, features=EXACT, found=None, adopted=None):
        """The notes of a table of one retrieval, with the settings of each job."""
        view = made("scenes/features/net/whole/00-of-01.parquet", settings=features, found=found)
        ranked = made("scenes/retrieval/vse.parquet", {"view_whole": view}, retrieval)
        row = replace(read_statement(result_path(ranked)), adopted=adopted or {})
        with making(Statement(given=table)):
            return footnotes._exact_notes([row])

    assert of() == [footnotes.EXACT]
    assert of(table={}) == of(retrieval={}) == of(features={"revisions": {"resize": 2}}) == []
    assert of(found={"files": {"path": "mine.npy"}}) == []
    assert of(adopted={"scenes/retrieval/vse.parquet": ["the code"]}) == []
    with making(Statement(given=EXACT)):
        assert footnotes._exact_notes([]) == []
