from pathlib import Path

from densevse.settings.code import imported_files

ROOT = Path(__file__).parents[2]


def names(file):
    return {str(path.relative_to(ROOT)) for path in imported_files(ROOT / file, ROOT)}


def test_follows_imports_through_modules():
    assert names("densevse/settings/load.py") == {"densevse/errors.py", "densevse/settings/model.py"}
    assert "densevse/errors.py" in names("densevse/artifacts/schemas.py")


def test_sees_both_forms_of_import(tmp_path):
    package = tmp_path / "densevse" / "room"
    package.mkdir(parents=True)
    (package / "first.py").write_text("import densevse.room.second\n")
    (package / "second.py").write_text("x = 1\n")
    script = tmp_path / "script.py"
    script.write_text("def main():\n    from densevse.room import first\n")
    assert imported_files(script, tmp_path) == {package / "first.py", package / "second.py"}
