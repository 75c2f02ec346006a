from densevse.analyses.searches.answering import write_answers
from densevse.artifacts.lineage import lineage
from densevse.data.files import Files
from densevse.inference.models import open_alone
from densevse.runtime.logs import job
from densevse.runtime.numerics import set_up


def main(files, model, encodings, split, asked, top, threads, output):
    inputs, method = open_alone(files, model, set_up(threads))
    settings = {"asked": asked, "top": top, "split": split}
    parents = {"model": model, "encodings": encodings, "captions": files.one("caption_table")}
    write_answers(method, inputs, encodings, split, asked, top, output, lineage(settings, parents))


if __name__ == "__main__":
    with job(snakemake.log[0]):
        main(
            Files.of(dict(snakemake.input.items())),
            snakemake.input.model,
            snakemake.input.encodings,
            snakemake.params.split,
            snakemake.params.asked,
            snakemake.params.top,
            snakemake.params.threads,
            snakemake.output[0],
        )
