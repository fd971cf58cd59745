"""All exercises of the book by id, in the order of their chapters."""

from exercises import (
    appendix_a,
    appendix_b,
    appendix_c,
    appendix_d,
    appendix_d_4,
    appendix_d_5,
    appendix_e,
    appendix_e_3,
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
    section_6_2,
    section_8_1,
    section_8_1_wikipedia,
    section_8_2,
    section_9,
)
from exercises.format import Exercise, PaperExercise, Task

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
    section_5_1,
    section_5_2,
    section_5_3,
    section_6,
    section_6_1,
    section_6_1_robustness,
    section_6_2,
    section_8_1,
    section_8_1_wikipedia,
    section_8_2,
    section_9,
    appendix_a,
    appendix_b,
    appendix_c,
    appendix_d,
    appendix_d_4,
    appendix_d_5,
    appendix_e,
    appendix_e_3,
    errata,
)
SOURCES: dict[str, Exercise] = {e.id: e for module in MODULES for e in module.EXERCISES}
"""Those with code, with all their variants."""
EXERCISES: dict[str, Exercise] = {name: e.posed() for name, e in SOURCES.items()}
"""Those with code, as the web book poses them."""
PAPER: dict[str, PaperExercise] = {e.id: e for module in MODULES for e in getattr(module, "PAPER", ())}
TASKS: dict[str, Task] = {**EXERCISES, **PAPER}
