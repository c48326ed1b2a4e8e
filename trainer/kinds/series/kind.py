"""Series in time whose next steps are forecast: one, or a panel of several."""

from typing import Any

from trainer.core.contract.training import Estimator
from trainer.kinds.examples import ExampleKind
from trainer.kinds.series.options import OPTIONS
from trainer.kinds.series.target import MASE, SMAPE, Later

FORECAST = "forecast"


class SeriesInTime(ExampleKind):
    name = "series"
    tasks = (FORECAST,)
    tasks_of_numbers = (FORECAST,)
    targets = (Later,)
    things = "steps"
    why_one_split = (
        "What the score would be under another split is not measured: a forecast is always for later steps, and steps that are held out at random "
        "would lie between steps that the model has learnt from."
    )
    choosing_metrics = (MASE, SMAPE)
    options = OPTIONS
    options_place = 6
    shape = "forecaster"
    starts_from = "series"
    claims_by_whole_files = True
    estimators = (Estimator("forecaster", "trainer.kinds.series.forecaster", "the best of several methods on rolling origins", "series", leans=True),)
    encodes_always = False
    gains_by_base = False
    gains_by_installed_models = False
    lists_candidates = False
    enough = 0
    inputs_may_lack = True  # without a moment the next step is meant

    def has_network(self, task: str) -> bool:
        return False

    def claim(self, files, settings):
        from trainer.kinds.series import reading

        return reading.claim(self, files, settings)

    def read(self, claim, settings, checks):
        from trainer.kinds.series import reading

        return reading.load(claim, settings, checks)

    def train(self, run, claim) -> None:
        from trainer.kinds.series.pretrained import trying
        from trainer.training import carry_out

        run, base, asked = trying.chosen(run, self)
        data = self.read(claim, run.settings, run.checks)
        trying.attach(run, base, asked, data)
        carry_out.carry_out(run, data)

    def target(self, data) -> Later:
        return Later()

    def inputs(self, description: dict, folder):
        from trainer.kinds.series import asking, forecaster
        from trainer.run_folder import files

        return asking.inputs(description["columns"], files.read_json(folder / "config.json"), forecaster.lasts(folder))

    def contents(self, cells, columns, styles) -> list:
        from trainer.kinds.series import asking

        return asking.contents(cells, columns)

    def key(self, example) -> str:
        return f"{example.content.ids} {example.content.time}"

    def content(self, example, columns) -> str:
        from trainer.export import display

        return display.short(" ".join((*example.content.ids, example.content.time)))

    def estimator_seconds(self, data, outputs: int) -> float:
        train = data.splits["train"]
        return 3 + min(600.0, 1e-3 * len(train.panel) * train.details.steps**0.5 + 1e-5 * len(train)) + train.details.seconds

    def baselines(self, data, seed: int) -> list[dict]:
        from trainer.kinds.series import forecaster

        test, train = data.splits["test"], data.splits["train"]
        if not len(test):
            return []
        target, lags = self.target(data), train.details.lags
        truth = target.encode([e.target for e in test])
        title = "seasonal naive forecast" if lags.season > 1 else "naive forecast"
        return [
            {"name": name, "title": title, "role": role, "test": target.report(target.answers(outputs, truth), seed)}
            for name, title, role, outputs in (
                ("mean", "mean of each series", "constant", forecaster.means(lags, test)),
                ("naive", title, "simple", forecaster.naive(lags, test)),
            )
        ]

    def answer(self, asking, launcher) -> None:
        from trainer.kinds.series import answering

        answering.answer(asking)

    def parts(self, finished) -> dict:
        from trainer.kinds.series import results

        return results.parts(finished)

    def predictions(self, finished) -> str:
        from trainer.kinds.series import results

        return results.predictions(finished)

    def answers_table(self, answered, columns) -> str:
        from trainer.kinds.series import results

        return results.answers_table(answered, columns)

    def answers_samples(self, answered) -> list[dict]:
        from trainer.kinds.series import results

        return results.samples(answered)

    def answers_sections(self, answered, work):
        from trainer.kinds.series import results

        return results.answers_sections(answered)

    def answer_files(self, answered, work, out) -> dict[str, dict]:
        from trainer.kinds.series import results

        return results.write_forecast(out)

    def reads(self, model: dict) -> str:
        return "a table with times and values, which continues the training data or has a history of its own"

    def answers_in_words(self, labels, data) -> str:
        steps: Any = data.splits["train"]
        return f"the next {steps.details.steps} steps of each series, with intervals of 80 and 90 %"

    def lacks(self, description: dict, data) -> bool:
        return list(description["columns"]) != list(data.columns) or description["label_column"] != data.label_column
