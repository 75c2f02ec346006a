from densevse.carry.records import HISTORY_FILE, WEIGHTS_FILE
from densevse.carry.using import check_carried_model, use_carried_files
from densevse.runtime.logs import job

if __name__ == "__main__":
    given = snakemake.input
    with job(snakemake.log[0]):
        check_carried_model(given.records, snakemake.params.settings)
        use_carried_files(given.records, {WEIGHTS_FILE: given.model, HISTORY_FILE: given.history}, snakemake.output)
