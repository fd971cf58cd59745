# How Transformers Learn Topic Structure. 'make' alone lists what there is.
PYTHON ?= python3
JOBS ?= 2
# Given to the shell as they are: a seed may be any text.
export CHAPTER CLASS_SEED SUBMISSIONS UNPROTECTED OUT
RUN = .venv/bin/python
# Small tensors: more threads than one cost time, above all while something else runs.
export OMP_NUM_THREADS = 1
# What takes long on real text is computed once and kept here; 'make clean' deletes it.
export TOPICLIB_CACHE ?= $(CURDIR)/_build/results

.PHONY: help book test lab lint unit chapters notebooks student grade check-exercises check-colab check-site repeat bench clean

help: ## list the commands
	@grep -E '^[a-z-]+:.*## ' Makefile | awk -F ':.*## ' '{ printf "make %-15s %s\n", $$1, $$2 }'

book: env ## set up, execute every chapter, render the book to _build/html
	@$(RUN) -m tools.build

test: env lint unit chapters ## set up, check the code, run the unit tests, run every chapter

lab: env ## open the chapters in JupyterLab
	@$(RUN) -m jupyterlab book

lint: env ## ruff, mypy, the form of the notebooks, the map of results, the symbols
	@$(RUN) -m ruff check .
	@$(RUN) -m ruff format --check --quiet topiclib tools tests exercises book/_ext
	@$(RUN) -m mypy
	@$(RUN) -m tools.notebooks check
	@$(RUN) -m tools.chapter_table check
	@$(RUN) -m tools.results_map check
	@$(RUN) -m tools.objectives check
	@$(RUN) -m tools.notation check
	@$(RUN) -m tools.chapter_map check

unit: env ## the unit tests
	@$(RUN) -m pytest -q -n $(JOBS)

chapters: env ## run every chapter with nbval
	@TOPICLIB_PROGRESS=0 $(RUN) -m pytest -q -n $(JOBS) --dist loadscope --nbval-lax --nbval-current-env \
		--nbval-cell-timeout=600 --timeout=900 --timeout-method=thread -p no:cacheprovider book

notebooks: env ## bring generated cells and pages up to date, clear outputs
	@$(RUN) -m tools.notebooks sync
	@$(RUN) -m tools.chapter_table sync
	@$(RUN) -m tools.results_map sync
	@$(RUN) -m tools.check_exercises sync
	@$(RUN) -m tools.objectives sync
	@$(RUN) -m tools.notation sync
	@$(RUN) -m tools.chapter_map sync

student: env ## notebooks to hand out, for CHAPTER=... or all; CLASS_SEED=... gives a class its own variants (OUT=folder)
	@$(RUN) -m tools.editions $(CHAPTER) $${CLASS_SEED:+--class-seed="$$CLASS_SEED"} $${OUT:+--out="$$OUT"}

grade: env ## grade the notebooks in SUBMISSIONS=... of CHAPTER=... (CLASS_SEED=... as for the students; OUT=folder)
	@test -n "$$SUBMISSIONS" -a -n "$$CHAPTER" || { echo "usage: make grade SUBMISSIONS=folder CHAPTER=03_3_architecture" >&2; exit 2; }
	@$(RUN) -m tools.grading.grade --chapter="$$CHAPTER" $${CLASS_SEED:+--class-seed="$$CLASS_SEED"} $${OUT:+--out="$$OUT"} \
		$${UNPROTECTED:+--unprotected} -- "$$SUBMISSIONS"

check-exercises: env ## every right and wrong answer against the checks; no solution in what is published
	@$(RUN) -m tools.check_exercises

check-colab: env ## run chapters alone with Colab's versions (CHAPTERS="..."; all of them: 30 minutes)
	@$(RUN) -m tools.check_colab $(CHAPTERS)

check-site: env ## look at every built page with Chromium: errors, formulas, sliders, keyboard, phone, dark, print, axe (PAGES="...")
	@$(RUN) -m tools.check_site $(PAGES)

repeat: env ## execute the built chapters again and compare the printed numbers (SHARE=3: a third of them)
	@$(RUN) -m tools.repeat $(SHARE)

bench: env ## measure the engine beside BertForMaskedLM, in turns; needs a quiet machine (6 minutes)
	@$(RUN) -m tools.bench

clean: ## delete what the build made (not the environment)
	rm -rf _build

.PHONY: env
env:
	@$(PYTHON) tools/environment.py
