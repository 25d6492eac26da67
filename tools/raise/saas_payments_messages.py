# /// script
# requires-python = "==3.11.*"
# dependencies = [
#     "requests==2.34.2",
#     "sendgrid==6.12.5",
#     "shopifyapi==12.7.0",
#     "stripe==16.1.0",
#     "twilio==9.13.0",
# ]
# [tool.uv]
# exclude-newer = "2026-11-28T00:00:00Z"
# ///
"""What clients of services for payments, messages and shops raise: Stripe, Twilio, SendGrid, Shopify.

Forms: https://docs.stripe.com/api/errors, https://www.twilio.com/docs/api/errors,
https://www.twilio.com/docs/sendgrid/api-reference/how-to-use-the-sendgrid-v3-api/errors,
https://shopify.dev/docs/api/usage/response-codes
"""

from __future__ import annotations

from typing import Any

import sendgrid
import shopify
import stripe
from harness import CANARY, WRONG_READING, Family
from servers.elsewhere import session_to
from servers.http import Answer, html, http_server, json_answer
from twilio.http.http_client import TwilioHttpClient
from twilio.rest import Client as TwilioClient

family = Family(__file__, "stripe", servers={"http": http_server}, is_wire_form=True)
stripe.enable_telemetry = False


def table(library: str, who: str, cases: Any) -> None:
    """Add a case for each row: title, what is asked, the answer, the class, tags."""
    for title, ask, answer, raises, *tags in cases:
        family.case(f"{who} {title}", raises=raises, tags=tags, library=library)(
            lambda http, answer=answer, ask=ask: ask(http.answers(answer))
        )


# Stripe, with the client's own sort into classes.
def list_charges(url: str) -> Any:
    options: Any = {"base_addresses": {"api": url}, "max_network_retries": 0}
    client = stripe.StripeClient(f"sk_test_{CANARY}", http_client=stripe.RequestsClient(timeout=1), **options)
    return client.v1.charges.list({"limit": 100})


def stripe_error(status: int, kind: str, message: str, headers: dict[str, str] | None = None, **more: Any) -> Answer:
    return json_answer(
        status, {"error": {"type": kind, "message": message, **more}}, {"Request-Id": "req_1", **(headers or {})}
    )


table("stripe", "Stripe", (
    ("rate limit", list_charges, stripe_error(429, "invalid_request_error", "Request rate limit exceeded.", code="rate_limit"),
        "RateLimitError"),
    ("lock timeout", list_charges, stripe_error(429, "invalid_request_error", "This object cannot be accessed right now because "
        "another API request or Stripe process is currently accessing it.", code="lock_timeout"), "RateLimitError",
        WRONG_READING),
    ("key that is invalid", list_charges, stripe_error(401, "invalid_request_error", "Invalid API Key provided: sk_test_*345"),
        "AuthenticationError"),
    ("key that expired", list_charges, stripe_error(401, "invalid_request_error", "Expired API Key provided: sk_live_*345",
        code="api_key_expired"), "AuthenticationError"),
    ("key without the permission", list_charges, stripe_error(403, "invalid_request_error", "The provided key does not have the "
        "required permissions for this endpoint. Having the 'rak_charge_read' permission would allow this request to continue."),
        "PermissionError"),
    ("parameter that is unknown", list_charges, stripe_error(400, "invalid_request_error", "Received unknown parameter: limits",
        param="limits", code="parameter_unknown"), "InvalidRequestError"),
    ("customer that is not there", list_charges, stripe_error(404, "invalid_request_error", "No such customer: 'cus_1'",
        param="customer", code="resource_missing"), "InvalidRequestError"),
    ("card that is declined", list_charges, stripe_error(402, "card_error", "Your card was declined.", code="card_declined",
        decline_code="insufficient_funds"), "CardError"),
    ("card that could not be processed", list_charges, stripe_error(402, "card_error", "An error occurred while processing your "
        "card. Try again in a little bit.", code="processing_error"), "CardError", WRONG_READING),
    ("idempotency key in use", list_charges, stripe_error(409, "idempotency_error", "There is currently another in-progress "
        "request using this Stripe-Idempotency-Key.", code="idempotency_key_in_use"), "StripeError", WRONG_READING),
    ("server error", list_charges, stripe_error(500, "api_error", "An unknown error occurred"), "APIError"),
    ("error that says not to try again", list_charges, stripe_error(500, "api_error", "An unknown error occurred",
        {"Stripe-Should-Retry": "false"}), "APIError", WRONG_READING),
    ("page instead of JSON", list_charges, html(502, "<html>Bad Gateway</html>"), "APIError"),
    ("is silent", list_charges, Answer(silent_s=4), "APIConnectionError"),
    ("resets the connection", list_charges, Answer(is_reset=True), "APIConnectionError"),
))  # fmt: skip


def send_sms(url: str) -> Any:
    client = TwilioHttpClient(timeout=1)
    client.session = session_to(url)
    return TwilioClient("AC" + "0" * 32, CANARY, http_client=client).messages.create(
        to="+15005550001", from_="+15005550006", body="x"
    )


def twilio_error(status: int, code: int, message: str) -> Answer:
    more_info = f"https://www.twilio.com/docs/errors/{code}"
    return json_answer(status, {"code": code, "message": message, "more_info": more_info, "status": status})


table("twilio", "Twilio", (
    ("too many requests", send_sms, twilio_error(429, 20429, "Too Many Requests"), "TwilioRestException"),
    ("authenticate", send_sms, twilio_error(401, 20003, "Authenticate"), "TwilioRestException"),
    ("account that is suspended", send_sms, twilio_error(403, 20005, "Account not active"), "TwilioRestException",
        WRONG_READING),
    ("number that is invalid", send_sms, twilio_error(400, 21211, "Invalid 'To' Phone Number: +1500555XXXX"),
        "TwilioRestException"),
    ("recipient who unsubscribed", send_sms, twilio_error(400, 21610, "Attempt to send to unsubscribed recipient"),
        "TwilioRestException"),
    ("queue that is full", send_sms, twilio_error(429, 21611, "This 'From' number has exceeded the maximum number of queued "
        "messages"), "TwilioRestException"),
    ("messages of a day of a trial", send_sms, twilio_error(429, 63038, "Account exceeded the 50 daily messages limit"),
        "TwilioRestException", WRONG_READING),
    ("region without permission", send_sms, twilio_error(400, 21408, "Permission to send an SMS has not been enabled for the "
        "region indicated by the 'To' number"), "TwilioRestException", WRONG_READING),
    ("is unavailable", send_sms, twilio_error(503, 20503, "Service unavailable"), "TwilioRestException"),
))  # fmt: skip


def send_mail(url: str) -> Any:
    client = sendgrid.SendGridAPIClient(f"SG.{CANARY}", host=url)
    client.client.timeout = 1
    return client.client.mail.send.post(request_body={"subject": "loaded"})


def mail_error(status: int, message: str, field: str | None = None, headers: dict[str, str] | None = None) -> Answer:
    return json_answer(status, {"errors": [{"message": message, "field": field, "help": None}]}, headers)


table("sendgrid", "SendGrid", (
    ("too many requests", send_mail, mail_error(429, "too many requests", headers={"X-RateLimit-Remaining": "0",
        "X-RateLimit-Reset": "1764547200"}), "HTTPError"),
    ("credits that are used up", send_mail, mail_error(401, "Maximum credits exceeded"), "HTTPError", WRONG_READING),
    ("grant that is invalid", send_mail, mail_error(401, "The provided authorization grant is invalid, expired, or revoked"),
        "HTTPError"),
    ("sender who is not verified", send_mail, mail_error(403, "The from address does not match a verified Sender Identity.",
        "from"), "HTTPError", WRONG_READING),
    ("content that is missing", send_mail, mail_error(400, "Unless a valid template_id is provided, the content parameter is "
        "required.", "content"), "HTTPError"),
    ("attachment that is too large", send_mail, mail_error(413, "The JSON payload you have included in your request is too "
        "large."), "HTTPError"),
    ("is silent", send_mail, Answer(silent_s=4), ("TimeoutError", "URLError")),
))  # fmt: skip


def read_orders(url: str) -> Any:
    shopify.ShopifyResource.clear_session()
    shopify.ShopifyResource.site = f"{url}/admin/api/2026-01"
    shopify.ShopifyResource.headers = {"X-Shopify-Access-Token": CANARY}
    shopify.ShopifyResource.timeout = 1
    return shopify.Order.find(limit=250)


table("shopifyapi", "Shopify", (
    ("calls of its bucket", read_orders, json_answer(429, {"errors": "Exceeded 2 calls per second for api client. Reduce request "
        "rates to resume uninterrupted service."}, {"Retry-After": "2.0", "X-Shopify-Shop-Api-Call-Limit": "40/40"}),
        "ClientError"),
    ("token that is wrong", read_orders, json_answer(401, {"errors": "[API] Invalid API key or access token (unrecognized login "
        "or wrong password)"}), "UnauthorizedAccess"),
    ("shop that is frozen", read_orders, json_answer(402, {"errors": "Unavailable Shop"}), "ClientError"),
    ("scope that is missing", read_orders, json_answer(403, {"errors": "[API] This action requires merchant approval for "
        "read_orders scope."}), "ForbiddenAccess"),
    ("shop that is locked", read_orders, json_answer(423, {"errors": "This shop is unavailable"}), "ClientError",
        WRONG_READING),
    ("security rejection", read_orders, Answer(430, "Shopify Security Rejection"), "ClientError"),
    ("order that is not there", read_orders, json_answer(404, {"errors": "Not Found"}), "ResourceNotFound"),
    ("server error", read_orders, json_answer(500, {"errors": "Internal Server Error"}), "ServerError"),
    ("is silent", read_orders, Answer(silent_s=4), ("Error", "TimeoutError")),
))  # fmt: skip


if __name__ == "__main__":
    family.run()
