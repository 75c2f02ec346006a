from densevse.evaluation.caption_table import make_caption_table
from densevse.evaluation.tables import Outputs
from densevse.logs import job

if __name__ == "__main__":
    with job(snakemake.log[0]):
        make_caption_table(
            list(snakemake.input.scores),
            snakemake.input.get("published") or None,
            snakemake.params.settings,
            Outputs(**dict(snakemake.output.items())),
        )
