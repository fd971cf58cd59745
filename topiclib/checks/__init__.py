"""What a learner's answer must satisfy, and the hint when it does not.

In a chapter: ``check("3.3-column-softmax", column_softmax)``. It never stops the notebook: it returns a verdict
that says passed, not answered yet, or what is wrong by its misconception, without giving the value away.
"""

# Each module registers its checks when it is imported.
from topiclib.checks import (
    appendix_a,
    appendix_b,
    appendix_c,
    appendix_d,
    appendix_d_4,
    appendix_d_5,
    appendix_e,
    errata,
    preface,
    section_1,
    section_2,
    section_3,
    section_3_1,
    section_3_2,
    section_3_3,
    section_4,
    section_5,
    section_5_1,
    section_5_2,
    section_5_3,
    section_6,
    section_6_1,
    section_6_1_robustness,
    section_8_1,
    section_9,
)
from topiclib.checks.base import Misconception, Verdict, check, names

__all__ = [
    "Misconception",
    "Verdict",
    "appendix_a",
    "appendix_b",
    "appendix_c",
    "appendix_d",
    "appendix_d_4",
    "appendix_d_5",
    "appendix_e",
    "check",
    "errata",
    "names",
    "preface",
    "section_1",
    "section_2",
    "section_3",
    "section_3_1",
    "section_3_2",
    "section_3_3",
    "section_4",
    "section_5",
    "section_5_1",
    "section_5_2",
    "section_5_3",
    "section_6",
    "section_6_1",
    "section_6_1_robustness",
    "section_8_1",
    "section_9",
]
