"""The same numbers on every device; where there is no GPU, that the script for one runs and can fail."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from tools import device_check
from tools.device_check import CHECKS, distance, main

no_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device is here")


@pytest.mark.cuda
@no_gpu
@pytest.mark.parametrize("name", CHECKS)
def test_a_gpu_gives_the_cpus_numbers(name: str) -> None:
    check, tolerance = CHECKS[name]
    assert distance(check(torch.device("cuda")), check(torch.device("cpu"))) <= tolerance


@pytest.mark.cuda
@no_gpu
def test_a_gpu_whose_memory_is_too_small_takes_less_or_says_so() -> None:
    assert "too small for one item alone" in device_check.small_memory(torch.device("cuda"))


def test_the_script_can_be_rehearsed_without_a_gpu(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--device", "cpu", "--no-speed", "--out", str(tmp_path / "out.json")]) == 0
    report = json.loads((tmp_path / "out.json").read_text())
    assert set(report["checks"]) == set(CHECKS)
    assert all(check["distance"] == 0 for check in report["checks"].values())
    assert capsys.readouterr().out.count(" good") == len(CHECKS)


def test_the_script_fails_where_a_result_differs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    calls: list[int] = []

    def drifting(device: torch.device) -> device_check.Found:
        calls.append(1)
        return {"x": np.array([1.0, 1.0 + 1e-6 * len(calls)])}

    monkeypatch.setattr(device_check, "CHECKS", {"drifting": (drifting, 1e-9)})
    assert main(["--device", "cpu", "--no-speed", "--out", str(tmp_path / "out.json")]) == 1
    assert "drifting          1.0e-06 (at most 1e-09) FAILED" in capsys.readouterr().out


@pytest.mark.skipif(torch.cuda.is_available(), reason="says what happens without a CUDA device")
def test_without_a_gpu_the_script_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "There is no CUDA device here" in capsys.readouterr().err


def test_distance_sees_every_kind_of_difference() -> None:
    one = {"x": np.array([1.0, -4.0])}
    assert distance(one, one) == 0
    assert distance({"x": np.array([1.0, -3.0])}, one) == 0.25
    assert distance({"x": np.array([1.0])}, one) == float("inf")
    assert distance({"x": np.array([1.0, np.nan])}, one) == float("inf")
    with pytest.raises(ValueError, match="beyond the other"):
        distance({"y": np.array([1.0])}, one)
