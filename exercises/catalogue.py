"""All exercises of the book by id, in the order of their chapters."""

from exercises import (
    appendix_a,
    appendix_b,
    appendix_c,
    appendix_d,
    appendix_d_4,
    appendix_d_5,
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
    section_5_2,
    section_5_3,
)
from exercises.format import Exercise

MODULES = (
    preface,
    section_1,
    section_2,
    section_3,
    section_3_1,
    section_3_2,
    section_3_3,
    section_4,
    section_5,
    section_5_2,
    section_5_3,
    appendix_a,
    appendix_b,
    appendix_c,
    appendix_d,
    appendix_d_4,
    appendix_d_5,
    errata,
)
EXERCISES: dict[str, Exercise] = {e.id: e for module in MODULES for e in module.EXERCISES}
