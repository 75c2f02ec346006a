from tests.environments import environments, pinned


def test_conda_environments_have_the_pinned_versions():
    versions = pinned()
    found = environments()
    assert {path.stem for path in found} == {"base", "torch", "corenlp"}
    for path, packages in found.items():
        assert packages, path
        for name, version in packages.items():
            assert versions[name] == version, f"{path.name}: {name}"


def test_requirements_name_no_index():
    from tests.environments import ROOT

    text = (ROOT / "requirements.txt").read_text()
    assert "--index" not in text
    assert "://" not in text
    assert text.count("--hash=sha256:") > len(pinned())
