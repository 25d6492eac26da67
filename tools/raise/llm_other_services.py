# /// script
# requires-python = "==3.11.*"
# dependencies = [
#     "cohere==7.3.1",
#     "google-genai==3.6.1",
#     "groq==1.7.0",
#     "huggingface-hub==2.4.0",
#     "litellm==1.110.2",
#     "mistralai==3.7.0",
#     "ollama==0.6.3",
#     "pydantic-ai-slim[openai]==2.68.0",
# ]
# [tool.uv]
# exclude-newer = "2026-11-28T00:00:00Z"
# ///
"""What the clients of other model services raise: Gemini, Cohere, Mistral, Groq, Ollama, Hugging Face, and two layers on top.

Forms: https://ai.google.dev/gemini-api/docs/troubleshooting, https://docs.cohere.com/reference/errors,
https://docs.mistral.ai/api, https://console.groq.com/docs/errors, https://github.com/ollama/ollama/blob/main/docs/api.md,
https://huggingface.co/docs/huggingface_hub/package_reference/utilities
"""

from __future__ import annotations

import os
from functools import partial
from typing import Any

import cohere
import groq
import huggingface_hub
import ollama
from google import genai
from google.genai import types
from harness import CANARY, WRONG_READING, Family
from mistralai.client import Mistral
from pydantic_ai import Agent, UsageLimits
from pydantic_ai.models.fallback import FallbackModel
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from servers.http import Answer, HttpServer, Request, html, http_server, json_answer
from servers.port import refused_port

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # or importing it asks a server of the world
import litellm

family = Family(__file__, "google-genai", servers={"http": http_server}, is_wire_form=True)
PROMPT: Any = [{"role": "user", "content": "Sort this ticket."}]
litellm.suppress_debug_info = True
litellm.telemetry = False


def ask_gemini(url: str, timeout_ms: int = 2000) -> Any:
    options = types.HttpOptions(base_url=url, timeout=timeout_ms, retry_options=types.HttpRetryOptions(attempts=1))
    client = genai.Client(api_key=CANARY, http_options=options)
    return client.models.generate_content(model="gemini-2.5-flash", contents="Sort this ticket.")


def google_error(code: int, status: str, message: str, *details: Any) -> Answer:
    return json_answer(code, {"error": {"code": code, "message": message, "status": status, "details": [*details]}})


def info(reason: str) -> Any:
    kind = "type.googleapis.com/google.rpc.ErrorInfo"
    return {
        "@type": kind,
        "reason": reason,
        "domain": "googleapis.com",
        "metadata": {"service": "generativelanguage.googleapis.com"},
    }


def quota(quota_id: str, delay: str) -> list[Any]:
    return [
        {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{
            "quotaMetric": "generativelanguage.googleapis.com/generate_content_free_tier_requests", "quotaId": quota_id,
            "quotaValue": "250"}]},
        {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay},
    ]  # fmt: skip


EXCEEDED = "You exceeded your current quota, please check your plan and billing details."
for title, answer, tags in (
    ("Gemini requests of a minute", google_error(
        429, "RESOURCE_EXHAUSTED", EXCEEDED,
        *quota("GenerateRequestsPerMinutePerProjectPerModel-FreeTier", "34.07s")), [WRONG_READING]),
    ("Gemini requests of a day", google_error(
        429, "RESOURCE_EXHAUSTED", EXCEEDED, *quota("GenerateRequestsPerDayPerProjectPerModel-FreeTier", "41s")), []),
    ("Gemini capacity that is shared", google_error(
        429, "RESOURCE_EXHAUSTED", "Resource exhausted. Please try again later."), []),
    ("Gemini key that is not valid", google_error(
        400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", info("API_KEY_INVALID")),
        [WRONG_READING]),
    ("Gemini key that expired", google_error(
        400, "INVALID_ARGUMENT", "API key expired. Please renew the API key.", info("API_KEY_INVALID")),
        [WRONG_READING]),
    ("Gemini API that is disabled", google_error(
        403, "PERMISSION_DENIED", "Generative Language API has not been used in project 123456789012 before or it is "
        "disabled.", info("SERVICE_DISABLED")), [WRONG_READING]),
    ("Gemini key reported as leaked", google_error(
        403, "PERMISSION_DENIED", "Your API key was reported as leaked. Please use another API key."), []),
    ("Gemini place that is not served", google_error(
        400, "FAILED_PRECONDITION", "User location is not supported for the API use."), []),
    ("Gemini model that is not found", google_error(
        404, "NOT_FOUND", "models/gemini-2.5-flsh is not found for API version v1beta, or is not supported for "
        "generateContent."), []),
    ("Gemini input with too many tokens", google_error(
        400, "INVALID_ARGUMENT", "The input token count (1196265) exceeds the maximum number of tokens allowed "
        "(1048576)."), []),
    ("Gemini is overloaded", google_error(
        503, "UNAVAILABLE", "The model is overloaded. Please try again later."), []),
    ("Gemini internal error", google_error(500, "INTERNAL", "An internal error has occurred."), []),
    ("Gemini deadline", google_error(
        504, "DEADLINE_EXCEEDED", "Deadline expired before operation could complete."), []),
    ("Gemini behind a proxy with a page", html(502, "<html><title>502 Bad Gateway</title></html>"), []),
):  # fmt: skip
    family.case(title, raises="APIError", tags=tags)(lambda http, answer=answer: ask_gemini(http.answers(answer)))


@family.case("Gemini does not answer in time", raises="Exception")
def _(http: HttpServer) -> None:
    ask_gemini(http.answers(Answer(silent_s=5)), timeout_ms=400)


@family.case("Gemini is refused", raises="Exception")
def _() -> None:
    with refused_port() as port:
        ask_gemini(f"http://127.0.0.1:{port}")


@family.case("Gemini client without a key", raises="ValueError")
def _() -> None:
    genai.Client()


def ask_cohere(url: str) -> Any:
    client = cohere.ClientV2(api_key=CANARY, base_url=url, timeout=1)
    return client.chat(model="command-a", messages=PROMPT, request_options={"max_retries": 0})


def ask_mistral(url: str) -> Any:
    return Mistral(api_key=CANARY, server_url=url, timeout_ms=1000).chat.complete(
        model="mistral-small", messages=PROMPT
    )


def ask_groq(url: str) -> Any:
    client = groq.Groq(api_key=CANARY, base_url=url, max_retries=0, timeout=1)
    return client.chat.completions.create(model="llama-3.3-70b", messages=PROMPT)


def ask_ollama(url: str) -> Any:
    return ollama.Client(url, timeout=1).chat("llama3.2", messages=PROMPT)


def ask_litellm(url: str) -> Any:
    return litellm.completion(
        "openai/gpt-5-mini", messages=PROMPT, api_base=url, api_key=CANARY, max_retries=0, timeout=1
    )


def pydantic_model(url: str) -> OpenAIChatModel:
    provider = OpenAIProvider(base_url=url, api_key=CANARY)
    provider.client.max_retries = 0
    provider.client.timeout = 1
    return OpenAIChatModel("gpt-5-mini", provider=provider)


def ask_agent(url: str) -> Any:
    return Agent(pydantic_model(url)).run_sync("Sort this ticket.")


def openai_error(status: int, code: str, message: str, headers: dict[str, str] | None = None) -> Answer:
    return json_answer(status, {"error": {"message": message, "type": code, "code": code, "param": None}}, headers)


for library, ask, cases in (
    ("cohere", ask_cohere, (
        ("Cohere trial key of a month", json_answer(429, {"message": "You are using a Trial key, which is limited to "
            "1000 API calls / month. You can continue to use the Trial key for free or upgrade to a Production key."}),
            [WRONG_READING]),
        ("Cohere calls of a minute", json_answer(429, {"message": "You are past the per minute request limit, please "
            "wait and try again later."}), []),
        ("Cohere token that is invalid", json_answer(401, {"message": "invalid api token"}), []),
        ("Cohere model that was removed", json_answer(404, {"message": "model 'command-r' was removed on September 15, "
            "2025. See https://docs.cohere.com/docs/models."}), [WRONG_READING]),
        ("Cohere too many tokens", json_answer(400, {"message": "too many tokens: size limit exceeded by 1023 tokens."}),
            []),
        ("Cohere payment method", json_answer(402, {"message": "Please add or update your payment method."}), []),
        ("Cohere blocked output", json_answer(498, {"message": "blocked output, please update prompt"}),
            [WRONG_READING]),
        ("Cohere internal error", json_answer(500, {"message": "internal server error, this has been reported"}), []),
        ("Cohere is silent", Answer(silent_s=4), []),
    )),
    ("mistralai", ask_mistral, (
        ("Mistral requests of a second", json_answer(429, {"object": "error", "message": "Requests rate limit exceeded",
            "type": "rate_limited", "param": None, "code": "1300"}), []),
        ("Mistral capacity of the tier", json_answer(429, {"object": "error", "message": "Service tier capacity "
            "exceeded for this model.", "type": "invalid_request_error", "param": None, "code": "3505"}), []),
        ("Mistral key", json_answer(401, {"detail": "Unauthorized"}), []),
        ("Mistral model that is invalid", json_answer(400, {"object": "error", "message": "Invalid model: mistral-smal",
            "type": "invalid_model", "param": None, "code": "1500"}), []),
        ("Mistral validation", json_answer(422, {"detail": [{"type": "missing", "loc": ["body", "messages"],
            "msg": "Field required", "input": {}}]}), []),
        ("Mistral answer of another form", json_answer(200, {"id": "x", "choices": "none"}), []),
        ("Mistral connection that is reset", Answer(is_reset=True), []),
    )),
    ("groq", ask_groq, (
        ("Groq tokens of a day", openai_error(429, "rate_limit_exceeded", "Rate limit reached for model `llama-3.3-70b` "
            "on tokens per day (TPD): Limit 100000, Used 99874, Requested 1200. Please try again in 15m27.9s.",
            {"retry-after": "928"}), []),
        ("Groq request larger than its minute", openai_error(413, "rate_limit_exceeded", "Request too large for model "
            "`llama-3.3-70b` on tokens per minute (TPM): Limit 6000, Requested 9000, please reduce your message "
            "size."), [WRONG_READING]),
        ("Groq capacity", Answer(498, '{"error": {"message": "Flex tier capacity exceeded, try again later", '
            '"type": "capacity_exceeded"}}', {"Content-Type": "application/json"}), [WRONG_READING]),
        ("Groq JSON that the model did not make", openai_error(400, "json_validate_failed",
            "Failed to generate JSON. Please adjust your prompt."), []),
        ("Groq model of another day", openai_error(400, "model_decommissioned", "The model `llama2-70b-4096` has been "
            "decommissioned and is no longer supported."), []),
    )),
    ("ollama", ask_ollama, (
        ("Ollama model that was not pulled", json_answer(404, {"error": "model 'llama3.2' not found"}), []),
        ("Ollama with too little memory", json_answer(500, {"error": "model requires more system memory (5.6 GiB) than "
            "is available (3.1 GiB)"}), [WRONG_READING]),
        ("Ollama runner that died", json_answer(500, {"error": "llama runner process has terminated: exit status 2"}),
            []),
        ("Ollama with a full queue", json_answer(503, {"error": "server busy, please try again.  maximum pending "
            "requests exceeded"}), []),
        ("Ollama is silent while it loads", Answer(silent_s=4), []),
        ("Ollama answers with nonsense", Answer(200, "<html>hello</html>"), []),
    )),
    ("litellm", ask_litellm, (
        ("LiteLLM rate limit", openai_error(429, "rate_limit_exceeded", "Rate limit reached for requests. Please try "
            "again in 20s.", {"retry-after": "20"}), []),
        ("LiteLLM quota", openai_error(429, "insufficient_quota", "You exceeded your current quota."), [WRONG_READING]),
        ("LiteLLM context window", openai_error(400, "context_length_exceeded", "This model's maximum context length "
            "is 128000 tokens."), []),
        ("LiteLLM key", openai_error(401, "invalid_api_key", f"Incorrect API key provided: {CANARY}."), []),
        ("LiteLLM model that is unknown", openai_error(404, "model_not_found", "The model does not exist."), []),
        ("LiteLLM gateway budget", openai_error(400, "budget_exceeded", "Budget has been exceeded! Current cost: "
            "100.02, Max budget: 100.0"), [WRONG_READING]),
        ("LiteLLM service is down", openai_error(503, "service_unavailable", "Service unavailable"), []),
        ("LiteLLM is silent", Answer(silent_s=4), []),
    )),
    ("pydantic-ai-slim", ask_agent, (
        ("an agent meets a rate limit", openai_error(429, "rate_limit_exceeded", "Rate limit reached for gpt-5-mini. "
            "Please try again in 6s.", {"retry-after": "6"}), []),
        ("an agent meets a quota", openai_error(429, "insufficient_quota", "You exceeded your current quota."),
            [WRONG_READING]),
        ("an agent has a wrong key", openai_error(401, "invalid_api_key", "Incorrect API key provided."), []),
        ("an agent meets an overloaded model", openai_error(503, "overloaded", "The engine is overloaded"), []),
        ("an agent has too much context", openai_error(400, "context_length_exceeded", "This model's maximum context "
            "length is 128000 tokens."), []),
        ("an agent loses its connection", Answer(is_reset=True), []),
        ("an agent gets an answer of no form", json_answer(200, {"hello": 1}), []),
    )),
):  # fmt: skip
    for title, answer, tags in cases:
        family.case(title, raises="Exception", tags=tags, library=library)(
            lambda http, answer=answer, ask=ask: ask(http.answers(answer))
        )

agent_case = partial(family.case, library="pydantic-ai-slim")


def completion(content: str) -> Answer:
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": content}}
    usage = {"prompt_tokens": 900, "completion_tokens": 200, "total_tokens": 1100}
    return json_answer(
        200,
        {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage},
    )


@agent_case("an agent never answers in the form asked for", raises="UnexpectedModelBehavior")
def _(http: HttpServer) -> None:
    Agent(pydantic_model(http.answers(completion("billing"))), output_type=int).run_sync("How urgent?")


@agent_case("an agent uses more tokens than a task allows", raises="UsageLimitExceeded", tags=[WRONG_READING])
def _(http: HttpServer) -> None:
    agent = Agent(pydantic_model(http.answers(completion("billing"))))
    agent.run_sync("Sort this ticket.", usage_limits=UsageLimits(total_tokens_limit=1000))


@agent_case("both models of an agent fail", raises="ExceptionGroup")
def _(http: HttpServer) -> None:
    limited = openai_error(429, "rate_limit_exceeded", "Rate limit reached. Please try again in 3s.")
    url = http.answers(openai_error(503, "overloaded", "The engine is overloaded"), limited)
    Agent(FallbackModel(pydantic_model(url), pydantic_model(url))).run_sync("Sort this ticket.")


hub_case = partial(family.case, library="huggingface-hub", raises="Exception")


def download(url: str, name: str = "config.json") -> Any:
    os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"
    return huggingface_hub.hf_hub_download(
        "shop/ticket-model", name, endpoint=url, token=f"hf_{CANARY}", etag_timeout=1
    )


def hub_answer(status: int, code: str, message: str, **more: str) -> Answer:
    return json_answer(
        status,
        {"error": message},
        {"X-Error-Code": code, "X-Error-Message": message, "X-Request-Id": "Root=1-68", **more},
    )


for title, answer, tags in (
    ("Hub repository that is not there", hub_answer(404, "RepoNotFound", "Repository not found"), []),
    ("Hub repository that wants a licence accepted", hub_answer(
        403, "GatedRepo", "Access to model shop/ticket-model is restricted and you are not in the authorized list."),
        []),
    ("Hub file that is not there", hub_answer(404, "EntryNotFound", "Entry not found"), [WRONG_READING]),
    ("Hub revision that is not there", hub_answer(404, "RevisionNotFound", "Invalid rev id: main"), []),
    ("Hub token that is wrong", json_answer(401, {"error": "Invalid user token."}), []),
    ("Hub repository that was disabled", hub_answer(403, "DisabledRepo", "Access to this resource is disabled."), []),
):  # fmt: skip
    hub_case(title, tags=tags)(lambda http, answer=answer: download(http.answers(answer)))


@hub_case("Hub is not reached and nothing is in the cache", tags=[WRONG_READING])
def _() -> None:
    with refused_port() as port:
        download(f"http://127.0.0.1:{port}")


@hub_case("a name of a repository that cannot be", tags=[])
def _() -> None:
    huggingface_hub.hf_hub_download("shop/models/ticket-model", "config.json")


def infer(url: str) -> Any:
    client = huggingface_hub.InferenceClient(base_url=url, api_key=f"hf_{CANARY}", timeout=1)
    return client.chat_completion(PROMPT, model="shop/ticket-model")


for title, answer, tags in (
    ("Hub inference credit of the month", json_answer(402, {"error": "You have exceeded your monthly included credits "
        "for Inference Providers. Subscribe to PRO to get 20x more monthly included credits."}), []),
    ("Hub inference with too many requests", json_answer(
        429, {"error": "Rate limit reached. Please log in or use a HF access token"}, {"Retry-After": "60"}), []),
    ("Hub inference of an endpoint that is paused", json_answer(
        400, {"error": "Bad Request: The endpoint is paused, ask a maintainer to restart it"}), [WRONG_READING]),
    ("Hub inference of a model that loads", json_answer(
        503, {"error": "Model shop/ticket-model is currently loading", "estimated_time": 20.0}), []),
    ("Hub inference that is silent", Answer(silent_s=4), []),
):  # fmt: skip
    hub_case(title, tags=tags)(lambda http, answer=answer: infer(http.answers(answer)))


def _is_head(request: Request) -> bool:
    return request.method == "HEAD"


@hub_case("Hub file that is cut off", tags=[])
def _(http: HttpServer) -> None:
    head = {"ETag": '"abc"', "X-Repo-Commit": "a" * 40, "Accept-Ranges": "bytes"}
    url = http.routes(
        lambda request: (
            Answer(200, b"x" * 5000, head) if _is_head(request) else Answer(200, b"x" * 5000, head, cut_after_bytes=9)
        )
    )
    os.environ["HF_HUB_DISABLE_XET"] = "1"
    download(url, "model.bin")


if __name__ == "__main__":
    family.run()
