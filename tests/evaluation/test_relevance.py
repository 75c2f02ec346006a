"""Metrics with any number of right answers: against other libraries, by hand, with ties, and their files."""

import zipfile

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.metrics import ndcg_score

import densevse
from densevse.evaluation.given.relevance import read_relevance
from snakeproof.errors import InputError

RANDOM = np.random.default_rng(0)
IMAGES, SENTENCES = 30, 70
SCORES = RANDOM.permutation(IMAGES * SENTENCES).reshape(IMAGES, SENTENCES).astype(np.float32)
GAINS = RANDOM.integers(1, 4, (IMAGES, SENTENCES)) * (RANDOM.random((IMAGES, SENTENCES)) < 0.08)
BY_DIRECTION = {"i2t": (SCORES, GAINS), "t2i": (SCORES.T, GAINS.T)}


def of_trec_eval(scores, gains, measure):
    """The mean of a measure of trec_eval over the queries with an answer, in percent."""
    qrels = {str(q): {str(c): int(g) for c, g in enumerate(row) if g} for q, row in enumerate(gains) if row.any()}
    run = {query: {str(c): float(s) for c, s in enumerate(scores[int(query)])} for query in qrels}
    pytrec_eval = pytest.importorskip("pytrec_eval", reason="it has no wheels for Linux on aarch64")
    found = pytrec_eval.RelevanceEvaluator(qrels, {measure}).evaluate(run)
    return 100 * np.mean([next(iter(row.values())) for row in found.values()])


@pytest.mark.parametrize("direction", ["i2t", "t2i"])
@pytest.mark.parametrize(
    ("name", "measure"),
    [
        ("ndcg_at_10", "ndcg_cut.10"),
        ("ndcg_at_3", "ndcg_cut.3"),
        ("mrr", "recip_rank"),
        ("rprecision", "Rprec"),
        ("r3", "success.3"),
        ("r10", "success.10"),
    ],
)
def test_metrics_are_those_of_trec_eval(direction, name, measure):
    found = densevse.evaluate(SCORES, relevant=sparse.coo_array(GAINS), at=(3, 10))
    assert found[f"{direction}_{name}"] == pytest.approx(of_trec_eval(*BY_DIRECTION[direction], measure), rel=1e-12)


@pytest.mark.parametrize("direction", ["i2t", "t2i"])
def test_ndcg_is_that_of_scikit_learn(direction):
    scores, gains = BY_DIRECTION[direction]
    asked = gains.any(axis=1)
    expected = 100 * ndcg_score(gains[asked], scores[asked], k=7)
    found = densevse.evaluate(SCORES, relevant=GAINS, at=[7])
    assert found[f"{direction}_ndcg_at_7"] == pytest.approx(expected, rel=1e-12)
    assert found[f"{direction}_queries"] == asked.sum()


def of_query(scores, gains, metric):
    """A metric of one image that asks."""
    return densevse.evaluate(np.array([scores], np.float32), relevant=np.array([gains]), at=[2])[f"i2t_{metric}"] / 100


def test_metrics_by_hand():
    """R = 3, right answers at ranks 1, 3 and 5: precisions 1 and 2/3 at those within the first 3."""
    scores, gains = [5, 4, 3, 2, 1], [1, 0, 1, 0, 1]
    assert of_query(scores, gains, "map_at_r") == pytest.approx((1 + 2 / 3) / 3)
    assert of_query(scores, gains, "rprecision") == pytest.approx(2 / 3)
    assert of_query(scores, gains, "r2") == of_query(scores, gains, "mrr") == 1
    assert of_query(scores, gains, "ndcg_at_2") == pytest.approx(1 / (1 + 1 / np.log2(3)))
    assert of_query([5, 4, 3], [0, 0, 2], "mrr") == pytest.approx(1 / 3)
    assert of_query([5, 4, 3], [0, 1, -1], "rprecision") == 0


def test_of_candidates_with_one_score_those_with_smaller_gains_come_first():
    assert of_query([1, 1, 1], [1, 0, 0], "mrr") == pytest.approx(1 / 3)
    assert of_query([2, 2, 1], [1, 0, 1], "r2") == 1
    assert of_query([2, 2, 2], [1, 0, 1], "rprecision") == 1 / 2
    tied, apart = of_query([2, 2, 1], [3, 1, 0], "ndcg_at_2"), of_query([1, 2, 0], [3, 1, 0], "ndcg_at_2")
    assert tied == apart < of_query([2, 1, 0], [3, 1, 0], "ndcg_at_2")


def test_one_to_one_answers_have_the_recalls_and_intervals_of_tables():
    image = np.arange(100) // 5
    scores = RANDOM.integers(0, 30, (20, 100)).astype(np.float32)
    scores[image, np.arange(100)] += 8
    tables, found = (densevse.evaluate(scores, image, at=at, intervals=True) for at in (None, (1, 5, 10)))
    shared = [key for key in found if key in tables]
    assert len(shared) == 2 * 3 * 3 + 5  # and the numbers of what was ranked
    assert {key: found[key] for key in shared} == pytest.approx({key: tables[key] for key in shared})
    assert tables["rsum_low"] < tables["rsum"] < tables["rsum_high"]


def test_distances_are_turned():
    for answers in ({"relevant": GAINS}, {"image_of_sentence": np.arange(SENTENCES) % IMAGES}):
        turned = densevse.evaluate(-SCORES, **answers, lower_is_better=True)
        assert turned == densevse.evaluate(SCORES, **answers)


IMAGE_IDS, CAPTION_IDS = ([f"{kind}{n}" for n in range(count)] for kind, count in (("i", IMAGES), ("c", SENTENCES)))
PAIRS = [(IMAGE_IDS[i], CAPTION_IDS[s], int(GAINS[i, s])) for i, s in zip(*np.nonzero(GAINS), strict=True)]


def parquet(path, pairs=PAIRS):
    pd.DataFrame(pairs, columns=["image_id", "caption_id", "relevance"]).to_parquet(path)


def qrels(path, pairs=PAIRS):
    path.write_text("".join(f"{image} 0 {caption} {gain}\n" for image, caption, gain in pairs))


def qrels_of_sentences(path):
    path.write_text("".join(f"{caption}\tQ0\t{image}\t{gain}\n" for image, caption, gain in PAIRS))


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("pairs.parquet", parquet),
        ("qrels.txt", qrels),
        ("qrels.tsv", qrels_of_sentences),
        ("gains.npz", lambda path: sparse.save_npz(path, sparse.csr_array(GAINS))),
    ],
)
def test_every_file_holds_the_same_gains(tmp_path, name, write):
    write(tmp_path / name)
    assert (read_relevance(tmp_path / name, IMAGE_IDS, CAPTION_IDS).toarray() == GAINS).all()


def test_without_a_column_of_gains_every_pair_has_gain_one(tmp_path):
    pd.DataFrame({"image_id": [1, 0], "caption_id": [0, 2]}).to_parquet(tmp_path / "pairs.parquet")
    assert read_relevance(tmp_path / "pairs.parquet", range(2), range(3)).toarray().tolist() == [[0, 0, 1], [1, 0, 0]]


@pytest.mark.parametrize(
    ("write", "name", "pairs", "message"),
    [
        (parquet, "a.parquet", [("i0", "c0", 1), ("i0", "x", 1)], "row 2: image 'i0' with sentence 'x' has an id that"),
        (parquet, "a.parquet", [("i0", "c0", 1), ("i0", "c0", 2)], "row 2: .* has a pair that stands there before"),
        (parquet, "a.parquet", [("i0", "c0", np.nan)], "row 1: .* has a gain that is not a finite number"),
        (qrels, "a.txt", [("i0", "c0", "many")], "row 1: .* has a gain that is not a finite number"),
        (qrels, "a.txt", [("i0", "c0 c1", 1)], "a.txt, line 1: expected a query, a number, an answer and a gain"),
        (qrels, "a.txt", [("i0", "c0", "1\n\n"), ("i0", "c0 c1", 1)], "a.txt, line 4: expected a query"),
        (qrels, "a.txt", [("i0", "c0", "1\n\n"), ("i0", "x", 1)], "row 4: image 'i0' with sentence 'x' has an id"),
        (qrels, "a.txt", [("i0", "c0", 0)], "a.txt: no pair has a gain above 0"),
    ],
)
def test_wrong_pairs_are_refused(tmp_path, write, name, pairs, message):
    write(tmp_path / name, pairs)
    with pytest.raises(InputError, match=message):
        read_relevance(tmp_path / name, IMAGE_IDS, CAPTION_IDS)


def test_rows_of_parquet_are_counted_whatever_their_index(tmp_path):
    pairs = pd.DataFrame({"image_id": [0, 9], "caption_id": [0, 0]}, index=[5, 7])
    pairs.to_parquet(tmp_path / "pairs.parquet")
    with pytest.raises(InputError, match="row 2: image '9' with sentence '0' has an id that"):
        read_relevance(tmp_path / "pairs.parquet", range(2), range(3))


def test_qrels_whose_queries_cannot_be_told_are_refused(tmp_path):
    (tmp_path / "qrels.txt").write_text("0 0 1 1\n")
    with pytest.raises(InputError, match="an id is of an image and of a sentence"):
        read_relevance(tmp_path / "qrels.txt", ["0", "1"], ["0", "1", "2"])


@pytest.mark.parametrize("write", [qrels, qrels_of_sentences, parquet])
@pytest.mark.parametrize(
    ("images", "captions", "missing"),
    [(IMAGE_IDS, range(SENTENCES), "caption"), (range(IMAGES), CAPTION_IDS, "image")],
)
def test_ids_that_were_not_given_are_asked_for(tmp_path, write, images, captions, missing):
    """The scores of a command without --caption-ids have numbers for ids."""
    write(tmp_path / "pairs.parquet" if write is parquet else tmp_path / "qrels.txt")
    (path,) = tmp_path.iterdir()
    with pytest.raises(InputError, match=rf"no {missing} id in it is one of the scores'; .* \(--{missing}-ids\)"):
        read_relevance(path, images, captions)


def test_queries_that_cannot_be_told_are_said(tmp_path):
    path = tmp_path / "qrels.txt"
    path.write_text("0 0 1 1\n1 0 0 1\n")
    found = {queries: read_relevance(path, range(2), range(3), queries) for queries in ("images", "sentences")}
    assert found["images"].toarray().tolist() == [[0, 1, 0], [1, 0, 0]]
    assert found["sentences"].toarray().tolist() == [[0, 1, 0], [1, 0, 0]]
    path.write_text("0 0 2 1\n1 0 0 1\n")
    assert read_relevance(path, range(2), range(3), "images").toarray().tolist() == [[0, 0, 1], [1, 0, 0]]
    with pytest.raises(InputError, match="row 1: image '2' with sentence '0' has an id that the scores do not have"):
        read_relevance(path, range(2), range(3), "sentences")
    parquet(tmp_path / "pairs.parquet")
    with pytest.raises(InputError, match=r"pairs\.parquet: it says which are images.* leave `queries` out"):
        read_relevance(tmp_path / "pairs.parquet", IMAGE_IDS, CAPTION_IDS, "images")


TWICE = ([1, 1, -1], ([0, 4, 4], [2, 3, 3]))
"""A judgement, and two of one pair."""


@pytest.mark.parametrize("form", ["coo", "csr", "csc", "bsr"])
def test_a_judgement_that_a_sparse_matrix_has_twice_is_refused(tmp_path, form):
    wrong = sparse.coo_array(TWICE, (IMAGES, SENTENCES)) if form == "coo" else doubled(form)
    message = r"image 4 with sentence 3 \(counted from 0\) stands there twice, as 1 pairs do"
    with pytest.raises(InputError, match=f"relevant: {message}"):
        densevse.evaluate(SCORES, relevant=wrong)
    if form != "bsr":
        sparse.save_npz(tmp_path / "gains.npz", wrong)
        with pytest.raises(InputError, match=rf"gains\.npz: {message}"):
            read_relevance(tmp_path / "gains.npz", IMAGE_IDS, CAPTION_IDS)


def doubled(form):
    """A compressed matrix that has a pair twice, which its constructor does not look at."""
    gains, (rows, columns) = TWICE
    if form == "csc":
        return sparse.csc_array((gains, rows, np.searchsorted(columns, np.arange(SENTENCES + 1))), (IMAGES, SENTENCES))
    found = sparse.csr_array((gains, columns, np.searchsorted(rows, np.arange(IMAGES + 1))), (IMAGES, SENTENCES))
    blocks = (found.data.reshape(-1, 1, 1), found.indices, found.indptr)
    return sparse.bsr_array(blocks, (IMAGES, SENTENCES)) if form == "bsr" else found


@pytest.mark.parametrize("write", [parquet, qrels])
def test_a_judgement_that_a_file_has_twice_is_refused(tmp_path, write):
    path = tmp_path / f"gains.{'parquet' if write is parquet else 'txt'}"
    write(path, [*PAIRS[:11], (*PAIRS[3][:2], -1), *PAIRS[11:]])
    with pytest.raises(InputError, match=r"row 12: .* has a pair that stands there before; keep one"):
        read_relevance(path, IMAGE_IDS, CAPTION_IDS)


def test_minus_one_is_no_answer():
    gains = np.where(GAINS, GAINS, -1)
    for relevant in (gains, sparse.coo_array(gains), sparse.csr_array(gains)):
        assert densevse.evaluate(SCORES, relevant=relevant) == densevse.evaluate(SCORES, relevant=GAINS)


def test_ids_that_stand_twice_are_refused(tmp_path):
    qrels(tmp_path / "qrels.txt")
    with pytest.raises(InputError, match="image_ids: 'i0' stands there twice; leave one of each"):
        read_relevance(tmp_path / "qrels.txt", [*IMAGE_IDS, "i0"], CAPTION_IDS)


def test_a_damaged_sparse_matrix_is_refused(tmp_path):
    path = tmp_path / "gains.npz"
    sparse.save_npz(path, sparse.csr_array(GAINS))
    whole = path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        middle = archive.getinfo("data.npy").header_offset + 60
    for damaged in (whole[: len(whole) // 2], whole[:middle] + bytes(9) + whole[middle + 9 :]):
        path.write_bytes(damaged)
        with pytest.raises(InputError, match=r"gains\.npz: not a sparse matrix"):
            read_relevance(path, IMAGE_IDS, CAPTION_IDS)


def test_cutoffs_may_be_an_array():
    assert densevse.evaluate(SCORES, relevant=GAINS, at=np.array([5, 2])) == densevse.evaluate(
        SCORES, relevant=GAINS, at=[2, 5]
    )


def test_files_that_hold_no_pairs_are_refused(tmp_path):
    pd.DataFrame({"image": ["i0"]}).to_parquet(tmp_path / "a.parquet")
    with pytest.raises(InputError, match=r"a\.parquet: no column image_id"):
        read_relevance(tmp_path / "a.parquet", IMAGE_IDS, CAPTION_IDS)
    np.savez(tmp_path / "a.npz", gains=GAINS)
    with pytest.raises(InputError, match=r"a\.npz: not a sparse matrix"):
        read_relevance(tmp_path / "a.npz", IMAGE_IDS, CAPTION_IDS)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "give the right answers by image_of_sentence or by relevant"),
        ({"relevant": GAINS.T}, "relevant: expected gains of 30 x 70 images and sentences, found 70 x 30"),
        ({"relevant": GAINS * 0}, "no pair has a gain above 0"),
        ({"relevant": GAINS * np.nan}, "a gain is not a finite number"),
        ({"relevant": GAINS[0]}, r"relevant: expected a matrix of gains, found int64 of shape \(70,\)"),
        ({"relevant": np.ma.masked_equal(GAINS, 2)}, r"expected a matrix of gains, .*\(or masked\)"),
        ({"relevant": GAINS * 1j}, "relevant: expected a matrix of gains, found complex128"),
        ({"relevant": "qrels.txt"}, "relevant: expected a matrix of gains, found <U9"),
        ({"relevant": GAINS, "at": [0]}, r"whole numbers of candidates, 1 or more, not \[0\]"),
        ({"relevant": GAINS, "at": [2.5]}, r"at: cut-offs are a list of whole numbers .* not \[2.5\]"),
        ({"relevant": GAINS, "at": 5}, "at: cut-offs are a list of whole numbers .* not 5"),
        ({"relevant": GAINS, "at": ()}, r"at: cut-offs are a list of whole numbers .* not \[\]"),
        ({"relevant": GAINS, "protocol": "five_folds"}, "need the protocol full, not five_folds"),
    ],
)
def test_what_does_not_fit_is_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        densevse.evaluate(SCORES, **arguments)
