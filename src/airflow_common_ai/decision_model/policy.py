"""The Common AI provider's ``ClassifierRetryPolicy`` with the embedded classifier as its model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from airflow.providers.common.ai.hooks.pydantic_ai import PydanticAIHook
from airflow.providers.common.ai.policies.retry import ClassifierRetryPolicy, ErrorCategory
from airflow.sdk.definitions.retry_policy import RetryPolicy, RetryRule

from airflow_common_ai.classifier.classifier import SHIPPED, Classifier
from airflow_common_ai.classifier.version import version_of
from airflow_common_ai.decision_model.model import EmbeddedDecisionModel

__all__ = ["EmbeddedClassifierRetryPolicy", "EmbeddedHook"]


class EmbeddedHook(PydanticAIHook):
    """
    Makes agents on the embedded classifier. Reads no connection.

    :param classifier: The path of its weights; the shipped ones if ``None``.
    """

    def __init__(self, classifier: str | None) -> None:
        super().__init__()
        self._classifier = classifier

    def get_conn(self) -> EmbeddedDecisionModel:
        return EmbeddedDecisionModel(self._classifier)


class EmbeddedClassifierRetryPolicy(ClassifierRetryPolicy):
    """
    The Common AI provider's ``ClassifierRetryPolicy``, asking the classifier that ships with this package.

    .. code-block:: python

        @task(retries=3, retry_policy=EmbeddedClassifierRetryPolicy(min_confidence=0.8))
        def load(): ...

    The provider's hook knows models by the names of pydantic-ai's own providers, so no connection can name this one.
    For a policy that is not tied to the provider's, and sees more of a failure than its text, use
    :class:`~airflow_common_ai.policies.EvidenceRetryPolicy`.

    :param classifier: A model that ``airflow-common-ai train`` made; the shipped one if ``None``.
    :param include_traceback: Whether the model reads the whole chain, the default here: nothing is paid for it.
    :raises UnusableModel: ``classifier`` is missing, damaged or of another version; raised when the Dag is parsed.

    The other parameters are the provider's. Where the classifier abstains, ``fallback_policy``, then
    ``fallback_rules``, then the task's own settings decide, as after a failed call.
    """

    def __init__(
        self,
        *,
        classifier: str | Path | None = None,
        categories: Mapping[str, ErrorCategory] | None = None,
        min_confidence: float | None = None,
        fallback_rules: list[RetryRule] | None = None,
        fallback_policy: RetryPolicy | None = None,
        redactor: Callable[[str], str] | None = None,
        max_exception_length: int = 4096,
        include_traceback: bool = True,
    ) -> None:
        super().__init__(
            "",
            fallback_rules=fallback_rules,
            categories=categories,
            min_confidence=min_confidence,
            fallback_policy=fallback_policy,
            redactor=redactor,
            max_exception_length=max_exception_length,
            include_traceback=include_traceback,
        )
        if classifier is not None:
            Classifier.load(Path(classifier))  # a model that cannot be used is refused when the Dag is parsed
        self.classifier = None if classifier is None else str(classifier)
        self.weights = version_of(Path(classifier or SHIPPED))
        """So that two policies with other weights are told apart by their options."""

    def _hook(self) -> PydanticAIHook:
        return EmbeddedHook(self.classifier)
