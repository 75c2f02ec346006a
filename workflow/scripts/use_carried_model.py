from densevse.carry.records import HISTORY, WEIGHTS
from densevse.carry.using import check_carried_model, use_carried_files
from densevse.runtime.logs import job

if __name__ == "__main__":
    given = snakemake.input
    with job(snakemake.log[0]):
        check_carried_model(given.records, snakemake.params.settings)
        use_carried_files(given.records, {WEIGHTS: given.model, HISTORY: given.history}, snakemake.output)
