# A run locks its folders before its first job, and puts its records in order (snakeproof/runs.py).


onstart:
    planned = list(workflow.dag.needrun_jobs())
    tables_of_run = [file for job in planned for file in job.output if tables.is_page(file)]
    downloads.check_obtained(job.wildcards.resource for job in planned if job.rule.name == "obtain_by_hand")
    start.run.begin()


onsuccess:
    start.run.end()
    for file in tables_of_run:
        logger.info(f"Table: {file}")


onerror:
    start.run.end()
    for message in start.run.errors():
        logger.error(f"\n{message}")
