"""Watchers: displays of a training while it runs, one module each, whose `WATCHER` opens one.

    WATCHER(run, folder) -> Watcher

`run` is the name of the training, such as scenes/models/vse/seed0/round0/model, and `folder` is a folder for files of
its own. To add a watcher, name such a function as an entry point of the group densevse.watchers in a package of yours:

    [project.entry-points."densevse.watchers"]
    mlflow = "my_package.watching:open_run"
"""
