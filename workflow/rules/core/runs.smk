# A run locks its folders before its first job, so that no other run makes files there, and writes a bucket's records.

import time

began = time.time()
tables_of_run = []

if workflow.is_main_process:
    if bucket:
        bucket_records = BucketRecords(bucket, settings.results, logger.warning)
        bucket_records.fetch()
    else:
        run_locks = [
            RunLock(folder, key, logger.warning)
            for folder, key in ((settings.results, "results"), (settings.resources, "resources"))
        ]


onstart:
    end_by_signals()
    planned = list(workflow.dag.needrun_jobs())
    outputs = [file for job in planned for file in job.output]
    in_tables = (file for file in outputs if file.startswith(f"{settings.results}/tables/"))
    tables_of_run.extend(file for file in in_tables if file.endswith(".md"))
    downloads.check_obtained(job.wildcards.resource for job in planned if job.rule.name == "obtain_by_hand")
    if bucket:
        bucket_records.begin(file.storage_object.query for file in outputs if file.is_storage)
    else:
        lock_folders(run_locks, outputs)
        inputs = (file for job in planned for file in job.input)
        settle_dates(inputs, (settings.results, settings.resources), makers.make)
        if not workflow.touch:
            put_aside(workflow, settings.results, doubted)
    if ADOPTS in os.environ:
        # By --touch and --forceall all jobs are planned, which Snakemake would now call done.
        sys.exit(adopt_planned(workflow))


onsuccess:
    bucket_records.end() if bucket else remove_aside(settings.results)
    for file in tables_of_run:
        logger.info(f"Table: {file}")


onerror:
    bucket_records.end() if bucket else remove_aside(settings.results)
    from snakeproof.logs import last_errors

    # Far above, among the messages of other jobs, each stands too.
    logs = [file for job in workflow.dag.needrun_jobs() for file in job.log]
    for message in last_errors(logs, since=began):
        logger.error(f"\n{message}")
