from densevse.analyses.caption_scores.table import make_caption_table
from densevse.runtime.logs import job
from densevse.tables.results import Outputs

if __name__ == "__main__":
    with job(snakemake.log[0]):
        make_caption_table(
            list(snakemake.input.scores),
            snakemake.input.get("published") or None,
            snakemake.params.settings,
            Outputs(**dict(snakemake.output.items())),
        )
