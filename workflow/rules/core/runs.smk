# A run locks its folders before its first job, and puts its records in order (snakeproof/runs.py).


onstart:
    if any(one.local for one in settings.datasets.values()):
        from densevse.datasets import own_files  # here, as readers take a while to import

        names = {job.wildcards_dict.get("dataset") for job in workflow.dag.needrun_jobs()}
        own_files.check_first_lines(settings.datasets, names)
    by_hand = (job for job in workflow.dag.needrun_jobs() if job.rule.name == "obtain_by_hand")
    downloads.refuse_missing(job.wildcards.resource for job in by_hand)
    start.run.begin()


onsuccess:
    start.run.succeed()
    for file in start.run.outputs:
        if file.startswith(f"{settings.results}/tables/") and file.endswith(".md"):
            logger.info(f"Table: {file}")


onerror:
    start.run.fail()
