import pytest
from matplotlib.figure import Figure

from densevse.report.saving import save


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("ending", ["svg", "png"])
def test_what_the_font_has_no_picture_of_is_written_as_its_code(tmp_path, ending):
    figure = Figure()
    figure.suptitle("a cat 猫 \U0001f993 in a café\nand more")
    save(figure, tmp_path / f"figure.{ending}")
    assert figure.get_suptitle() == "a cat \\u732b \\U0001f993 in a café\nand more"
