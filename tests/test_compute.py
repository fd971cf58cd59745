"""Where things run: work cut into parts that fit into the device's memory."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import torch

from topiclib.compute import in_parts


@pytest.mark.parametrize(("most", "sizes"), [(9, [7]), (3, [3, 2, 2]), (1, [1] * 7)])
def test_work_is_halved_until_it_fits(most: int, sizes: list[int]) -> None:
    def run(part: Sequence[int]) -> int:
        if len(part) > most:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return sum(part)

    done = list(in_parts(run, range(7)))
    assert [i for part, _ in done for i in part] == list(range(7))
    assert sorted(len(part) for part, _ in done) == sorted(sizes)
    assert [result for _, result in done] == [sum(part) for part, _ in done]


def test_one_item_that_is_too_large_is_one_sentence() -> None:
    def run(part: Sequence[int]) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory")

    with pytest.raises(MemoryError, match="too small for one item alone"):
        list(in_parts(run, range(4)))


def test_another_error_comes_through() -> None:
    def run(part: Sequence[int]) -> None:
        raise RuntimeError("something else")

    with pytest.raises(RuntimeError, match="something else"):
        list(in_parts(run, range(4)))
