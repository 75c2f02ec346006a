# Tables of results, an entry of config/tables each, from retrieval artifacts alone; and tables of the rounds of methods
# that learn correspondences.


rule table:
    input:
        images=tables.images,
        captions=tables.captions,
        retrievals=tables.retrievals,
        published=tables.published,
        papers=tables.papers,
    output:
        markdown="<results>/tables/{table}.md",
        html=report(
            "<results>/tables/{table}.html",
            caption="../../report/table.rst",
            category="Tables",
            labels={"table": "{table}"},
        ),
        csv="<results>/tables/{table}.csv",
        parquet="<results>/tables/{table}.parquet",
    log:
        "<logs>/table/{table}.log",
    wildcard_constraints:
        table=any_of(tables.names()),
    conda:
        "../../../envs/base.yaml"
    resources:
        mem_mb=1000,
    params:
        code=code_of("table.py"),
        settings=tables.settings,
    message:
        "writing the table {wildcards.table}"
    script:
        "../../scripts/table.py"


rule table_of_rounds:
    input:
        tables=tables.tables_of_rounds,
        retrievals=tables.retrievals_of_rounds,
        accuracies=tables.accuracies_of_rounds,
    output:
        markdown="<results>/tables/{dataset}_rounds.md",
        html=report(
            "<results>/tables/{dataset}_rounds.html",
            caption="../../report/rounds.rst",
            category="Tables",
            labels={"table": "{dataset}, rounds"},
        ),
        csv="<results>/tables/{dataset}_rounds.csv",
        parquet="<results>/tables/{dataset}_rounds.parquet",
    log:
        "<logs>/table_of_rounds/{dataset}.log",
    conda:
        "../../../envs/base.yaml"
    resources:
        mem_mb=1000,
    params:
        code=code_of("table_of_rounds.py"),
        settings=tables.settings_of_rounds,
    message:
        "writing the table of rounds on {wildcards.dataset}"
    script:
        "../../scripts/table_of_rounds.py"
