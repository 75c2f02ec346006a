from densevse.analyses.searches.given import Question, write_given_answers
from densevse.artifacts.lineage import lineage
from densevse.config.given import GivenLayout
from densevse.config.validation import validate
from densevse.runtime.logs import job
from densevse.runtime.numerics import set_up_processor


def main(files, layout, question, contents, threads, output):
    set_up_processor(threads)
    settings = {"layout": layout, "question": question, "contents": contents}
    made_from = lineage(settings, {"images": files["image_table"], "captions": files["caption_table"]})
    write_given_answers(files, validate(GivenLayout, layout, "the given row"), Question(**question), output, made_from)


if __name__ == "__main__":
    with job(snakemake.log[0]):
        main(
            {key: path for key, path in snakemake.input.items() if path},
            snakemake.params.layout,
            snakemake.params.question,
            snakemake.params.contents,
            snakemake.params.threads,
            snakemake.output[0],
        )
