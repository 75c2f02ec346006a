"""Runs the jobs of trainings with settings and files as tests have them."""

from densevse.training import concepts, generators, retrieval, scenes


def settings_of(job, *left):
    """The settings that a job is given: those that are set, without its code."""
    return job.model_dump(mode="json", exclude={"code", *left}, exclude_unset=True)


def train_method(files, job, model, history):
    _train(retrieval.train, files, job, model, history)


def train_writing(files, job, model, history):
    _train(generators.train_generator, files, job, model, history)


def _train(train, files, job, model, history):
    own = {f"source_{name}": path for name, path in files.sources().items()}
    train(settings_of(job), job.code, str(model), str(history), **files.paths_by_input(), **own)


def train_head(tables, regions, job, written):
    concepts.train_concept_head(settings_of(job), job.code, **tables, regions=regions, **written._asdict())


def train_all(tables, sources, start, job, written):
    named = {**tables, "image_table": tables["images"], "sources": sources, "start": start, **written._asdict()}
    del named["images"]
    concepts.train_concept_network(settings_of(job), job.code, **named)


def train_windows(tables, sources, job, weights, history, class_names):
    """`class_names` is a file to be written with the classes of the job."""
    class_names.write_text("".join(f"{name}\n" for name in job.classes))
    files = {"image_table": tables["images"], "box_table": tables["boxes"], "class_names": str(class_names)}
    settings = settings_of(job, "classes")
    scenes.train_network(settings, job.code, sources=sources, weights=str(weights), history=str(history), **files)
