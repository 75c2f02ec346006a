"""The interface, as every method implements it."""

import pytest
import torch

from densevse.methods.interface import Embeddings, Images, Shapes, replace_parts
from densevse.models.files import build_method

SIZES = {"whole": 5, "regions": 5, "grid": 4, "ten_crop": 5, "concepts": 3}
VIEWS = {
    "vse": ["whole"],
    "cca": ["whole"],
    "dspe": ["whole"],
    "nic": ["whole"],
    "m_rnn": ["whole"],
    "devise": ["regions"],
    "sdt_rnn": ["regions"],
    "defrag": ["regions"],
    "deepvs": ["regions"],
    "hm_lstm": ["regions"],
    "sm_lstm": ["grid", "whole"],
    "sco": ["ten_crop", "concepts"],
}
MIDDLE = {"grid": 4, "regions": 3}  # cells, regions


@pytest.mark.parametrize("name", VIEWS)
def test_images_are_encoded_as_the_named_tuple_that_the_method_says(name):
    views = {
        view: torch.rand(2, MIDDLE[view], SIZES[view]) if view in MIDDLE else torch.rand(2, SIZES[view])
        for view in VIEWS[name]
    }
    shapes = Shapes({view: SIZES[view] for view in views}, 9, torch.rand(9, 4), {"relations": 2})
    method = build_method(name, {}, shapes).eval()
    found = method.encode_images(Images(views, torch.ones(2, 3, dtype=torch.bool), torch.ones(2, 3)))
    assert type(found) is method.images_as
    assert found._fields
    assert all(len(part) == 2 for part in found)


def test_an_encoding_of_other_parts_is_of_the_same_type():
    found = replace_parts(Embeddings(torch.zeros(3, 2)), [torch.ones(1, 2)])
    assert isinstance(found, Embeddings)
    assert torch.equal(found.vectors, torch.ones(1, 2))
