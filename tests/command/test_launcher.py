"""The command in a checkout's environment runs the package of the checkout, from any folder."""

import importlib.util
import subprocess

from tests.rules import ROOT

SPEC = importlib.util.spec_from_file_location("command_of_environment", ROOT / "envs/command.py")


def test_the_command_is_that_of_the_project_s_folder(tmp_path):
    module = importlib.util.module_from_spec(SPEC)
    SPEC.loader.exec_module(module)
    (tmp_path / "bin").mkdir()
    command = module.write(tmp_path)
    done = subprocess.run([command, "list", "parsers"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "config/parsers/grammar.yaml" in done.stdout
