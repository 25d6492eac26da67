from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import pytest
from classified_failures import failure, small_corpus

from airflow_common_ai.classifier import Classifier
from airflow_common_ai.classifier.training import Example, Recipe, train, vectors_of

RECIPE = Recipe(folds=4)


def test_the_same_examples_make_the_same_bytes() -> None:
    assert train(small_corpus(), RECIPE).model.to_bytes() == train(small_corpus(), RECIPE).model.to_bytes()


def test_it_learns_what_the_examples_say() -> None:
    classifier = Classifier(train(small_corpus(), RECIPE).model)

    said = {text: classifier.predict(failure(text), ()) for text in ("replica lags behind in oslo", "row lacks fields")}

    assert [(one.category, one.retry_probability > 0.5) for one in said.values() if one] == [
        ("transient", True),
        ("data", False),
    ]


def test_examples_that_are_not_measured_teach_all_the_same() -> None:
    taught = [
        Example(failure(text), (), "auth", "no", is_measured=False)
        for text in ("badge was refused at gate", "badge was refused at door", "badge was refused at lift")
    ]
    trained = train([*small_corpus(), *taught], RECIPE)

    said = Classifier(trained.model).predict(failure("badge was refused at home"), ())
    assert said is not None
    assert said.category == "auth"
    assert len(trained.examples) == len(trained.probabilities) == len(small_corpus())


def test_a_group_is_judged_by_models_that_had_not_seen_it() -> None:
    """One group says with the words of another the contrary: a model that saw it would know."""
    contrary = [
        replace(example, category="auth", should_retry="no", group="contrary", evidence=example.evidence)
        for example in small_corpus()
        if example.group == "orders" and example.should_retry == "yes"
    ]
    trained = train([*small_corpus(), *contrary], RECIPE)

    judged = zip(trained.examples, trained.retry_probabilities, strict=True)
    assert all(probability > 0.5 for example, probability in judged if example.group == "contrary")


def test_a_word_in_no_example_counts_like_a_word_with_a_like_vector() -> None:
    examples = small_corpus()
    vectors = {"replica": [1.0, 0.0], "standby": [1.0, 0.0], "row": [0.0, 1.0], "record": [0.0, 1.0]}
    model = train(examples, RECIPE, vectors=vectors).model

    retry = len(model.step_sizes) - 1
    assert model.weights_of("standby")[retry] > 0 > model.weights_of("record")[retry]


def test_training_can_build_on_a_model() -> None:
    shipped = Classifier.load().model
    trained = train(small_corpus(), RECIPE, vectors=vectors_of(shipped))

    said = Classifier(trained.model).predict(failure("the connection was lost"), ())
    assert said is not None
    assert said.retry_probability > 0.5


def test_to_fail_takes_more_than_to_retry() -> None:
    bars = train(small_corpus(), RECIPE).model.bars

    assert min(bars.fail.values()) > min(bars.retry.values()) >= 0.5


@pytest.mark.parametrize(
    ("examples", "said"),
    [
        (small_corpus()[:10], "at least 20 labelled failures"),
        ([replace(example, group="one") for example in small_corpus()], "2 groups"),
        ([replace(example, category="data") for example in small_corpus()], "2 categories"),
        ([replace(example, should_retry="no") for example in small_corpus()], "both failures that are worth a retry"),
        ([replace(example, is_measured=False) for example in small_corpus()], "got 0 of 0 groups"),
    ],
)
def test_too_little_to_learn_from_is_refused_with_what_is_missing(examples: list[Example], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        train(examples, RECIPE)


def test_without_scikit_learn_the_text_names_the_extra() -> None:
    program = (
        "import sys; sys.modules['sklearn'] = None\n"
        "from airflow_common_ai.classifier.training import train\n"
        "try:\n    train([])\nexcept ImportError as error:\n    print(error)"
    )

    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout

    assert "pip install 'airflow-common-ai[evals]'" in printed
