"""All exercises of the book by id, in the order of their chapters."""

from exercises import preface, section_1, section_2, section_3, section_3_1, section_3_2, section_3_3, section_4
from exercises.format import Exercise

MODULES = (preface, section_1, section_2, section_3, section_3_1, section_3_2, section_3_3, section_4)
EXERCISES: dict[str, Exercise] = {e.id: e for module in MODULES for e in module.EXERCISES}
