from __future__ import annotations

import subprocess
import sys

import pytest
from classified_failures import failure, redacted, wrapped

import airflow_common_ai.classifier as package
from airflow_common_ai.classifier import Classifier, Prediction
from airflow_common_ai.evidence.model import ExceptionNode
from airflow_common_ai.evidence.protocols import read_signals

CLASSIFIER = Classifier.load()


def _predict(message: str, type_path: str = "__main__.LoadError") -> Prediction | None:
    evidence = failure(message, type_path)
    return CLASSIFIER.predict(evidence, read_signals(evidence))


@pytest.mark.parametrize(
    ("message", "categories", "should_retry"),
    [
        ("the standby has not taken over yet, no leader among the nodes", {"transient"}, True),
        ("the remote side hung up before it had sent its answer", {"network", "transient"}, True),
        ("the sheet named Q3 does not exist in the workbook", {"resource", "data"}, False),
        ("the signing key was revoked by its owner and is not accepted", {"auth"}, False),
        ("column amount holds letters where a number is expected", {"data"}, False),
        ("exactly one of the options table and query must be given", {"permanent", "data"}, False),
    ],
)
def test_failures_in_words_that_nobody_recorded_are_understood(
    message: str, categories: set[str], should_retry: bool
) -> None:
    said = _predict(message)

    assert said is not None
    assert said.category in categories
    assert said.should_retry is not (not should_retry)
    assert (said.retry_probability > 0.5) is should_retry


def test_the_probabilities_add_up_and_the_most_probable_category_is_said() -> None:
    said = _predict("the replica is not ready yet")

    assert said is not None
    assert sum(said.probabilities.values()) == pytest.approx(1)
    assert said.probabilities[said.category] == max(said.probabilities.values())
    assert 0 <= said.retry_probability <= 1
    assert 0 <= said.confidence <= 1


def test_the_reason_names_words_of_the_failure() -> None:
    said = _predict("the replica is not ready yet")

    assert said is not None
    assert said.top_features
    assert all(word in "load error the replica is not ready yet" for text in said.top_features for word in text.split())


@pytest.mark.parametrize(
    "message",
    [
        pytest.param("", id="empty"),
        pytest.param("7 42 1003", id="numbers"),
        pytest.param("xq7 zzkp wvrtn qqlm pltkz", id="noise"),
        pytest.param("Die Verbindung zum Rechner wurde unterbrochen, bitte später erneut versuchen", id="German"),
        pytest.param("La tabla solicitada no existe en la base de datos del cliente", id="Spanish"),
        pytest.param("接続が拒否されました。後でもう一度お試しください", id="Japanese"),
        pytest.param("соединение было разорвано удаленным сервером", id="Russian"),
        pytest.param("connection refused " * 2000, id="very long"),
    ],
)
def test_it_abstains_where_it_knows_too_little(message: str) -> None:
    assert _predict(message, "builtins.RuntimeError") is None


@pytest.mark.parametrize(
    "message",
    [
        "Bash command failed. The command returned a non-zero exit code 1.",
        "SSH command failed with exit status 1",
        "The remote job ended in state FAILED",
        "Task did not complete successfully",
        "step 3 did not finish",
    ],
)
def test_what_says_only_that_something_failed_is_left_open(message: str) -> None:
    assert _predict(message, "airflow.sdk.exceptions.AirflowException") is None


@pytest.mark.parametrize("message", ["report is not ready", "operation could not be completed at this time"])
def test_it_fails_nothing_where_its_two_heads_disagree(message: str) -> None:
    said = _predict(message, "builtins.RuntimeError")
    assert said is None or said.should_retry is not False


def test_no_nodes_are_no_failure_to_judge() -> None:
    assert CLASSIFIER.predict(redacted(), ()) is None


@pytest.mark.parametrize(
    "message",
    ["the connection was lost", "permission denied for this table", "the column is missing in the file"],
)
def test_words_that_it_does_not_know_make_it_less_sure(message: str) -> None:
    plain, with_noise = _predict(message), _predict(f"{message} xqzzk wvrtn pltkz")

    assert plain is not None
    assert with_noise is None or with_noise.confidence < plain.confidence


def test_a_class_name_alone_can_be_enough() -> None:
    said = _predict("", "somelibrary.errors.ConnectionLostError")

    assert said is not None
    assert said.category == "network"


def test_a_masked_secret_is_no_word_of_the_reason() -> None:
    evidence = redacted(
        ExceptionNode("__main__.LoadError", message="login failed: password=hunter2secret is not accepted")
    )
    said = CLASSIFIER.predict(evidence, read_signals(evidence))

    assert said is not None
    assert "hunter2secret" not in " ".join(said.top_features)


def test_deep_chains_are_read_from_the_top_and_never_raise() -> None:
    nodes = [ExceptionNode("__main__.LoadError", message="the lock is held by another session")]
    nodes += [ExceptionNode("__main__.LoadError", message="the lock is held", parent=index) for index in range(40)]

    assert CLASSIFIER.predict(redacted(*nodes), ()) is not None


def test_the_model_reads_causes_as_well() -> None:
    evidence = wrapped("the pipeline stopped", "the remote side hung up and the connection broke")
    said = CLASSIFIER.predict(evidence, read_signals(evidence))

    assert said is not None
    assert said.category == "network"


def test_prediction_loads_no_library() -> None:
    program = (
        "import sys; from airflow_common_ai.classifier import Classifier; Classifier.load();"
        "print([name for name in ('numpy', 'scipy', 'sklearn', 'airflow', 'pickle') if name in sys.modules])"
    )

    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout

    assert printed.strip() == "[]"


def test_the_public_names_are_complete_and_sorted() -> None:
    assert sorted(package.__all__) == package.__all__ == dir(package)
    assert all(getattr(package, name) for name in package.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'Nothing'"):
        _ = package.Nothing
