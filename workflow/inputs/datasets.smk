# Functions that datasets.smk is made with: from wildcards to files and settings.


def source_names(wildcards):
    return list(dataset_sources(wildcards))


def reader_options(wildcards):
    return dataset_settings(wildcards).options


def reader_settings(wildcards):
    """What a reader uses of a data set's settings."""
    return dataset_settings(wildcards).model_dump(mode="json", include={"reader", "options", "known_unreadable"})


def reader_code(wildcards):
    """Readers are imported by name, so the one that is used is listed here."""
    return code("read_dataset.py", f"densevse/datasets/{dataset_settings(wildcards).reader}.py")


def with_boxes(readers):
    """The data sets whose official files hold true boxes, unless the user gives others."""
    return any_of(
        name for name, dataset in SETTINGS.datasets.items() if dataset.reader in readers and not dataset.boxes
    )


def given_boxes(wildcards):
    return dataset_settings(wildcards).boxes
