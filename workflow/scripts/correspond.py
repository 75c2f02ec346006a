from densevse.artifacts import schema
from densevse.artifacts.lineage import lineage
from densevse.artifacts.schemas.datasets import BOXES
from densevse.data.files import Files
from densevse.inference.assigning import write_correspondences
from densevse.inference.models import open_model
from densevse.runtime.logs import job
from densevse.runtime.numerics import set_up


def main(files, model, true_boxes, threads, output, number):
    inputs, method = open_model(files, model, set_up(threads), "embed_regions", "embed_phrases", "assign")
    true = schema.read(true_boxes, BOXES) if true_boxes else None
    made_from = lineage({"round": number}, {"start": model} | ({"true_boxes": true_boxes} if true_boxes else {}))
    write_correspondences(method, inputs, "train", output, made_from, true)


if __name__ == "__main__":
    with job(snakemake.log[0]):
        main(
            Files.of(dict(snakemake.input.items())),
            snakemake.input.start,
            snakemake.input.true_boxes or None,
            snakemake.params.threads,
            snakemake.output[0],
            snakemake.params.round,
        )
