from densevse.artifacts import schema
from densevse.artifacts.identity import Identity
from densevse.artifacts.lineage import lineage
from densevse.artifacts.schemas.retrieval import RETRIEVAL
from densevse.data.files import Files
from densevse.evaluation.protocols import folds
from densevse.evaluation.retrieval import retrieve, versions
from densevse.inference.encoding import encode_images, encode_sentences
from densevse.inference.models import open_model, trained_on
from densevse.inference.scoring import scorer
from densevse.runtime.logs import job
from densevse.runtime.numerics import set_up


def main(files, model, protocol, threads, output, of):
    device = set_up(threads)
    inputs, method = open_model(files, model, device)
    pairs = inputs.pairs("test", method.regions_read)
    score = scorer(method, encode_images(method, pairs), encode_sentences(method, pairs))
    rows = retrieve(score, pairs.rows, folds(pairs.rows, protocol))
    devices = {"device": device.type, "trained_on": trained_on(model)}
    made_from = lineage({"protocol": protocol, **devices, "versions": versions()}, {"model": model})
    schema.write(rows, RETRIEVAL, output, made_from, of)


if __name__ == "__main__":
    with job(snakemake.log[0]):
        main(
            Files.of(dict(snakemake.input.items())),
            snakemake.input.model,
            snakemake.wildcards.protocol,
            snakemake.params.threads,
            snakemake.output[0],
            Identity.of(snakemake.wildcards, split="test"),
        )
