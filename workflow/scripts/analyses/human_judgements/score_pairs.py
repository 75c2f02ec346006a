from densevse.analyses.human_judgements.pair_scores import pair_scores
from densevse.analyses.human_judgements.schemas import JUDGEMENTS, PAIR_SCORES
from densevse.artifacts import schema
from densevse.artifacts.identity import Identity
from densevse.data.files import Files
from densevse.evaluation.retrieval import versions
from densevse.inference.encoding import encode_images, encode_sentences
from densevse.inference.models import open_model, trained_on
from densevse.inference.scoring import scorer
from densevse.runtime.logs import job
from densevse.runtime.numerics import set_up


def main(files, model, judgements, threads, output, of):
    device = set_up(threads)
    inputs, method = open_model(files, model, device)
    pairs = inputs.pairs("test", method.regions_read)
    score = scorer(method, encode_images(method, pairs), encode_sentences(method, pairs))
    rows = pair_scores(score, pairs.rows, schema.read(judgements, JUDGEMENTS))
    devices = {"device": device.type, "trained_on": trained_on(model)}
    schema.write(rows, PAIR_SCORES, output, {"model": model, **devices, "versions": versions()}, of)


if __name__ == "__main__":
    with job(snakemake.log[0]):
        main(
            Files.of(dict(snakemake.input.items())),
            snakemake.input.model,
            snakemake.input.judgements,
            snakemake.params.threads,
            snakemake.output[0],
            Identity.of(snakemake.wildcards, split="test"),
        )
