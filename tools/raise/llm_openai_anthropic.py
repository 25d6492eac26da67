# /// script
# requires-python = "==3.11.*"
# dependencies = ["anthropic==2.14.0", "openai==3.57.0", "pydantic==2.14.4", "tenacity==9.2.1"]
# [tool.uv]
# exclude-newer = "2026-11-28T00:00:00Z"
# ///
"""What the clients of OpenAI and Anthropic raise when their services answer with errors.

Forms: https://platform.openai.com/docs/guides/error-codes and https://docs.anthropic.com/en/api/errors
"""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import anthropic
import openai
import tenacity
from harness import CANARY, FROM_TEXT, WRONG_READING, Family
from pydantic import BaseModel
from servers.http import Answer, HttpServer, html, http_server, json_answer
from servers.port import refused_port

family = Family(__file__, "openai", servers={"http": http_server}, is_wire_form=True)
anthropic_case = partial(family.case, library="anthropic")
PROMPT: Any = [{"role": "user", "content": "Sort this ticket."}]


class SortingFailed(Exception):
    """A user's own."""


def in_seconds(seconds: float) -> str:
    return (datetime.now(UTC) + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")


def ask_openai(url: str, **options: Any) -> Any:
    client = openai.OpenAI(api_key=CANARY, base_url=f"{url}/v1", max_retries=0, timeout=options.pop("timeout", 2))
    return client.chat.completions.create(model="gpt-5-mini", messages=PROMPT, **options)


def ask_claude(url: str, **options: Any) -> Any:
    client = anthropic.Anthropic(api_key=CANARY, base_url=url, max_retries=0, timeout=options.pop("timeout", 2))
    return client.messages.create(model="claude-sonnet-4-5", max_tokens=512, messages=PROMPT, **options)


def openai_error(status: int, code: str | None, kind: str, message: str, **headers: str) -> Answer:
    error = {"message": message, "type": kind, "param": None, "code": code}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return json_answer(status, {"error": error}, {"x-request-id": "req_0e3b7a4c", **named})


def claude_error(status: int, kind: str, message: str, details: Any = None, **headers: str) -> Answer:
    error = {"type": kind, "message": message, **({"details": details} if details else {})}
    payload = {"type": "error", "error": error, "request_id": "req_011CSHoEeqs5C35K2UUqR7Fy"}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return json_answer(status, payload, {"request-id": "req_011CSHoEeqs5C35K2UUqR7Fy", **named})


for title, raises, answer, tags in (
    ("OpenAI requests per minute used up", "RateLimitError", openai_error(
        429, "rate_limit_exceeded", "requests",
        "Rate limit reached for gpt-5-mini in organization org-shop on requests per min (RPM): Limit 500, Used 500, "
        "Requested 1. Please try again in 120ms.",
        x_ratelimit_limit_requests="500", x_ratelimit_remaining_requests="0", x_ratelimit_reset_requests="120ms",
        retry_after_ms="120"), []),
    ("OpenAI tokens per minute used up", "RateLimitError", openai_error(
        429, "rate_limit_exceeded", "tokens",
        "Rate limit reached for gpt-5-mini in organization org-shop on tokens per min (TPM): Limit 200000, Used "
        "199000, Requested 6000. Please try again in 1.5s.",
        x_ratelimit_remaining_tokens="1000", x_ratelimit_reset_tokens="1.5s", retry_after="2"), []),
    ("OpenAI requests per day used up", "RateLimitError", openai_error(
        429, "rate_limit_exceeded", "requests",
        "Rate limit reached for gpt-5-mini in organization org-shop on requests per day (RPD): Limit 10000, Used "
        "10000, Requested 1. Please try again in 7m12s.",
        x_ratelimit_remaining_requests="0", x_ratelimit_reset_requests="7m12s"), []),
    ("OpenAI one request larger than the limit of a minute", "RateLimitError", openai_error(
        429, "rate_limit_exceeded", "tokens",
        "Request too large for gpt-5-mini in organization org-shop on tokens per min (TPM): Limit 30000, Requested "
        "48211. The input or output tokens must be reduced in order to run successfully."), [WRONG_READING]),
    ("OpenAI quota of the account used up", "RateLimitError", openai_error(
        429, "insufficient_quota", "insufficient_quota",
        "You exceeded your current quota, please check your plan and billing details."), [WRONG_READING]),
    ("OpenAI hard limit of the bill reached", "BadRequestError", openai_error(
        400, "billing_hard_limit_reached", "invalid_request_error", "Billing hard limit has been reached"),
        [WRONG_READING]),
    ("OpenAI account that is not active", "RateLimitError", openai_error(
        429, "billing_not_active", "billing_not_active",
        "Your account is not active, please check your billing details on our website."), [WRONG_READING]),
    ("OpenAI spend limit of a project", "RateLimitError", openai_error(
        429, "project_spend_limit_exceeded", "insufficient_quota", "This project reached its monthly spend limit."),
        [WRONG_READING]),
    ("OpenAI key that is wrong", "AuthenticationError", openai_error(
        401, "invalid_api_key", "invalid_request_error",
        f"Incorrect API key provided: {CANARY}. You can find your API key at https://platform.openai.com/api-keys."),
        []),
    ("OpenAI key that was revoked", "AuthenticationError", openai_error(
        401, "account_deactivated", "invalid_request_error",
        "The OpenAI account associated with this API key has been deactivated."), []),
    ("OpenAI address that is not on the list", "AuthenticationError", openai_error(
        401, "ip_not_authorized", "invalid_request_error",
        "Your IP is not authorized to use this API key. Contact your administrator."), []),
    ("OpenAI key without the scope", "PermissionDeniedError", openai_error(
        403, "missing_scope", "invalid_request_error",
        "You have insufficient permissions for this operation. Missing scopes: model.request."), []),
    ("OpenAI country that is not served", "PermissionDeniedError", openai_error(
        403, "unsupported_country_region_territory", "request_forbidden",
        "Country, region, or territory not supported"), [WRONG_READING]),
    ("OpenAI model that does not exist", "NotFoundError", openai_error(
        404, "model_not_found", "invalid_request_error",
        "The model `gpt-5-mini-2024` does not exist or you do not have access to it."), []),
    ("OpenAI model that was taken out of service", "NotFoundError", openai_error(
        404, "model_deprecated", "invalid_request_error",
        "The model `text-davinci-003` has been deprecated, learn more about its replacement."), [WRONG_READING]),
    ("OpenAI context that is too long", "BadRequestError", openai_error(
        400, "context_length_exceeded", "invalid_request_error",
        "This model's maximum context length is 128000 tokens. However, your messages resulted in 131211 tokens."),
        []),
    ("OpenAI content policy", "BadRequestError", openai_error(
        400, "content_policy_violation", "invalid_request_error",
        "Your request was rejected as a result of our safety system."), []),
    ("OpenAI parameter that the model does not know", "BadRequestError", openai_error(
        400, "unsupported_parameter", "invalid_request_error",
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."),
        []),
    ("OpenAI schema of the answer that is invalid", "BadRequestError", openai_error(
        400, "invalid_json_schema", "invalid_request_error",
        "Invalid schema for response_format 'ticket': 'additionalProperties' is required to be supplied and to be "
        "false."), []),
    ("OpenAI server error", "InternalServerError", openai_error(
        500, None, "server_error",
        "The server had an error while processing your request. Sorry about that!"), []),
    ("OpenAI engine that is overloaded", "InternalServerError", openai_error(
        503, None, "server_error", "The engine is currently overloaded, please try again later"), []),
    ("OpenAI slow down after a sudden rise", "InternalServerError", openai_error(
        503, "slow_down", "server_error", "Slow down: reduce your request rate for at least 15 minutes."),
        [WRONG_READING]),
    ("OpenAI behind a gateway that times out", "InternalServerError", html(
        504, "<html><head><title>504 Gateway Time-out</title></head><body>cloudflare</body></html>"), []),
    ("OpenAI server that says do not try again", "InternalServerError", openai_error(
        500, "batch_corrupt", "server_error", "The file of this batch cannot be processed.", x_should_retry="false"),
        [WRONG_READING]),
    ("OpenAI conflict that may be tried again", "ConflictError", openai_error(
        409, "resource_locked", "invalid_request_error", "Another request changes this vector store.",
        x_should_retry="true"), []),
    ("OpenAI status that no class is for", "APIStatusError", openai_error(
        402, "payment_required", "billing_error", "Payment required."), []),
    ("Azure OpenAI content filter", "BadRequestError", json_answer(400, {"error": {
        "code": "content_filter", "param": "prompt", "status": 400,
        "message": "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
        "innererror": {"code": "ResponsibleAIPolicyViolation",
                       "content_filter_result": {"violence": {"filtered": True, "severity": "medium"}}}}}), []),
    ("Azure OpenAI call rate of the tier", "RateLimitError", json_answer(429, {"error": {
        "code": "429", "message": "Requests to the ChatCompletions_Create Operation under Azure OpenAI API have "
        "exceeded call rate limit of your current OpenAI S0 pricing tier. Please retry after 26 seconds."}},
        {"Retry-After": "26", "x-ms-region": "West Europe"}), []),
    ("Azure OpenAI deployment that is not there", "NotFoundError", json_answer(404, {"error": {
        "code": "DeploymentNotFound", "message": "The API deployment for this resource does not exist. If you created "
        "the deployment within the last 5 minutes, please wait a moment and try again."}}), []),
):  # fmt: skip
    family.case(title, raises=raises, tags=tags)(lambda http, answer=answer: ask_openai(http.answers(answer)))


for title, raises, answer, tags in (
    ("Anthropic requests of a minute", "RateLimitError", claude_error(
        429, "rate_limit_error", "This request would exceed your organization's rate limit of 50 requests per minute.",
        retry_after="17", anthropic_ratelimit_requests_remaining="0",
        anthropic_ratelimit_requests_reset=in_seconds(17)), []),
    ("Anthropic input tokens of a minute", "RateLimitError", claude_error(
        429, "rate_limit_error", "This request would exceed the rate limit for your organization of 40,000 input "
        "tokens per minute.", anthropic_ratelimit_input_tokens_remaining="0",
        anthropic_ratelimit_input_tokens_reset=in_seconds(42)), []),
    ("Anthropic usage that grows too fast", "RateLimitError", claude_error(
        429, "rate_limit_error", "Your account has hit an acceleration limit; ramp up your traffic gradually."), []),
    ("Anthropic spend limit of the month", "RateLimitError", claude_error(
        429, "rate_limit_error", "You have reached your specified API usage limits.",
        {"error_code": "enforced_spend_limit_reached"}), [WRONG_READING]),
    ("Anthropic usage limit until next month", "BadRequestError", claude_error(
        400, "invalid_request_error", "You have reached your specified API usage limits. You will regain access on "
        "2026-12-01 at 00:00 UTC."), [WRONG_READING]),
    ("Anthropic credit that is used up", "BadRequestError", claude_error(
        400, "invalid_request_error", "Your credit balance is too low to access the Anthropic API. Please go to Plans "
        "& Billing to upgrade or purchase credits."), [WRONG_READING]),
    ("Anthropic payment", "PaymentRequiredError", claude_error(
        402, "billing_error", "There is an issue with your billing or payment information."), []),
    ("Anthropic key that is wrong", "AuthenticationError", claude_error(
        401, "authentication_error", "invalid x-api-key"), []),
    ("Anthropic token that expired", "AuthenticationError", claude_error(
        401, "authentication_error", "OAuth token has expired. Please obtain a new token or refresh your existing "
        "token."), []),
    ("Anthropic permission", "PermissionDeniedError", claude_error(
        403, "permission_error", "Your API key does not have permission to use the specified resource."), []),
    ("Anthropic model that does not exist", "NotFoundError", claude_error(
        404, "not_found_error", "model: claude-sonet-4-5"), []),
    ("Anthropic prompt that is too long", "BadRequestError", claude_error(
        400, "invalid_request_error", "prompt is too long: 211034 tokens > 200000 maximum"), []),
    ("Anthropic roles in the wrong order", "BadRequestError", claude_error(
        400, "invalid_request_error", "messages: roles must alternate between \"user\" and \"assistant\", but found "
        "multiple \"user\" roles in a row"), []),
    ("Anthropic output blocked by a filter", "BadRequestError", claude_error(
        400, "invalid_request_error", "Output blocked by content filtering policy"), []),
    ("Anthropic request of more than 32 MB", "ContentTooLargeError", claude_error(
        413, "request_too_large", "Request exceeds the maximum size"), []),
    ("Anthropic is overloaded", "OverloadedError", claude_error(529, "overloaded_error", "Overloaded"), []),
    ("Anthropic is overloaded and names a wait", "OverloadedError", claude_error(
        529, "overloaded_error", "Overloaded", retry_after="40", x_should_retry="true"), []),
    ("Anthropic internal error", "InternalServerError", claude_error(
        500, "api_error", "Internal server error"), []),
    ("Anthropic request that took too long there", "GatewayTimeoutError", claude_error(
        504, "timeout_error", "The request timed out while processing."), []),
    ("Anthropic behind a proxy without JSON", "ServiceUnavailableError", Answer(
        503, "upstream connect error or disconnect/reset before headers. reset reason: connection timeout"), []),
):  # fmt: skip
    anthropic_case(title, raises=raises, tags=tags)(lambda http, answer=answer: ask_claude(http.answers(answer)))


for who, add, ask in (("OpenAI", family.case, ask_openai), ("Anthropic", anthropic_case, ask_claude)):

    @add(f"{who} does not answer in time", raises="APITimeoutError")
    def _(http: HttpServer, ask: Any = ask) -> None:
        ask(http.answers(Answer(silent_s=5)), timeout=0.4)

    @add(f"{who} resets the connection", raises="APIConnectionError")
    def _(http: HttpServer, ask: Any = ask) -> None:
        ask(http.answers(Answer(is_reset=True)))

    @add(f"{who} is refused", raises="APIConnectionError")
    def _(ask: Any = ask) -> None:
        with refused_port() as port:
            ask(f"http://127.0.0.1:{port}")

    @add(f"{who} at a host that does not resolve", raises="APIConnectionError")
    def _(ask: Any = ask) -> None:
        ask("http://llm-gateway.invalid")

    @add(f"{who} breaks off in the middle of a stream", raises=("APIConnectionError", "TransportError", "APIError"))
    def _(http: HttpServer, ask: Any = ask) -> None:
        body = 'event: ping\ndata: {"type": "ping", "choices": []}\n\n'
        head = {"Content-Type": "text/event-stream", "Content-Length": "9999"}
        for _ in ask(http.answers(Answer(200, body, head, cut_after_bytes=len(body))), stream=True):
            pass


@family.case("OpenAI sends an error within a stream", raises="APIError", tags=[WRONG_READING])
def _(http: HttpServer) -> None:
    error = {"error": {"message": "The server is overloaded.", "type": "server_error", "code": "server_overloaded"}}
    body = f'data: {{"id": "c1", "choices": []}}\n\ndata: {json.dumps(error)}\n\n'
    for _ in ask_openai(http.answers(Answer(200, body, {"Content-Type": "text/event-stream"})), stream=True):
        pass


@anthropic_case("Anthropic sends overloaded within a stream", raises="APIStatusError", tags=[WRONG_READING])
def _(http: HttpServer) -> None:
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    body = f"event: error\ndata: {json.dumps(error)}\n\n"
    for _ in ask_claude(http.answers(Answer(200, body, {"Content-Type": "text/event-stream"})), stream=True):
        pass


@family.case("OpenAI client without a key", raises="OpenAIError")
def _() -> None:
    openai.OpenAI()


@anthropic_case("Anthropic client without a key", raises=("TypeError", "AnthropicError"), tags=[WRONG_READING])
def _(http: HttpServer) -> None:
    anthropic.Anthropic(base_url=http.answers(Answer(401))).messages.create(
        model="claude-sonnet-4-5", max_tokens=10, messages=PROMPT
    )


class Ticket(BaseModel):
    team: str
    urgency: int


def completion(content: str, finish: str = "stop") -> Answer:
    message = {"role": "assistant", "content": content}
    choice = {"index": 0, "finish_reason": finish, "message": message}
    return json_answer(200, {"id": "c1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]})


for title, answer, raises in (
    ("OpenAI answer cut off by its length", completion('{"team": "bil', "length"), "LengthFinishReasonError"),
    ("OpenAI answer stopped by the content filter", completion("", "content_filter"), "ContentFilterFinishReasonError"),
    ("OpenAI answer with JSON of another schema", completion('{"team": "billing"}'), "ValidationError"),
):

    @family.case(title, raises=raises, tags=[WRONG_READING] if "cut off" in title else [])
    def _(http: HttpServer, answer: Answer = answer) -> None:
        client = openai.OpenAI(api_key=CANARY, base_url=http.answers(answer), max_retries=0)
        client.chat.completions.parse(model="gpt-5-mini", messages=PROMPT, response_format=Ticket)


@family.case("OpenAI answer that a task takes for JSON", raises="JSONDecodeError")
def _(http: HttpServer) -> None:
    answer = completion("Sure! Here is the JSON you asked for:\n```json\n{}\n```")
    json.loads(ask_openai(http.answers(answer)).choices[0].message.content)


@family.case("OpenAI batch that failed, by a user", raises="SortingFailed", tags=[FROM_TEXT])
def _(http: HttpServer) -> None:
    failed = {"id": "batch_1", "status": "failed", "errors": {"data": [{
        "code": "token_limit_exceeded", "message": "Enqueued token limit reached for gpt-5-mini. Try again later."}]}}  # fmt: skip
    client = openai.OpenAI(api_key=CANARY, base_url=http.answers(json_answer(200, failed)), max_retries=0)
    batch: Any = client.batches.retrieve("batch_1")
    if batch.status == "failed":
        raise SortingFailed(f"batch {batch.id} {batch.status}: {batch.errors.data[0].message}")


@family.case("OpenAI quota under a user's own exception", raises="SortingFailed", tags=[WRONG_READING])
def _(http: HttpServer) -> None:
    try:
        ask_openai(
            http.answers(
                openai_error(429, "insufficient_quota", "insufficient_quota", "You exceeded your current quota.")
            )
        )
    except openai.RateLimitError as error:
        raise SortingFailed("temporary problem with the model, will be retried") from error


@anthropic_case("Anthropic overloaded until tenacity gives up", raises="RetryError")
def _(http: HttpServer) -> None:
    url = http.answers(claude_error(529, "overloaded_error", "Overloaded"))
    tenacity.retry(stop=tenacity.stop_after_attempt(2))(ask_claude)(url)


@anthropic_case("Anthropic limits in a group of tasks", raises="ExceptionGroup")
async def _(http: HttpServer) -> None:
    limited = claude_error(
        429, "rate_limit_error", "Number of request tokens has exceeded your per-minute rate limit.", retry_after="12"
    )
    client = anthropic.AsyncAnthropic(api_key=CANARY, base_url=http.answers(limited), max_retries=0)
    together = asyncio.Barrier(2)  # or the first one's error cancels the other

    async def one() -> None:
        try:
            await client.messages.create(model="claude-sonnet-4-5", max_tokens=10, messages=PROMPT)
        finally:
            await together.wait()

    async with asyncio.TaskGroup() as group:
        for _ in range(2):
            group.create_task(one())


if __name__ == "__main__":
    family.run()
