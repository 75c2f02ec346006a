from densevse.carry.exporting import ExportedArtifacts, export_model
from densevse.carry.records import ModelName
from densevse.config.validation import validate
from densevse.runtime.logs import job
from densevse.tables.plan import TablePlan

if __name__ == "__main__":
    of = snakemake.wildcards
    with job(snakemake.log[0]):
        export_model(
            ExportedArtifacts(**dict(snakemake.input.items())),
            ModelName(of.dataset, of.variant, int(of.seed), int(of.round)),
            snakemake.params.settings,
            snakemake.params.described,
            validate(TablePlan, snakemake.params.plan, "the plan of the export"),
            snakemake.output[0],
        )
