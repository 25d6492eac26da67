"""What libraries raise that read, check and render data."""

from __future__ import annotations

import croniter
import jinja2
import jsonschema
import jwt
import pendulum
import pydantic
import yaml

from real_failures import Failures, Try

FAILURES = Failures()
row = FAILURES.row


class Order(pydantic.BaseModel):
    amount: int
    name: str = pydantic.Field(default="", max_length=5)


row("pydantic", "text is no integer", lambda t: Order(amount=t.name))
row("pydantic", "field is missing", lambda t: Order.model_validate({"name": t.id[:5]}))
row("pydantic", "text is too long", lambda t: Order(amount=t.number, name=t.id))
row("pydantic", "fraction", lambda t: Order(amount=t.number + 0.5))
row("pydantic", "no JSON", lambda t: Order.model_validate_json(f"{{{t.name}"))


def _render(t: Try, template: str) -> str:
    return (
        jinja2.Environment(undefined=jinja2.StrictUndefined)
        .from_string("\n" * t.number + template)
        .render(number=t.number)
    )


row("jinja2", "variable is missing", lambda t: _render(t, f"{{{{ {t.name} }}}}"))
row("jinja2", "attribute is missing", lambda t: _render(t, f"{{{{ number.{t.name} }}}}"))
row("jinja2", "filter is missing", lambda t: _render(t, f"{{{{ number | {t.name} }}}}"))
row("jinja2", "tag is unknown", lambda t: _render(t, f"{{% {t.name} %}}"))
row(
    "jinja2",
    "template is missing",
    lambda t: jinja2.Environment(loader=jinja2.FileSystemLoader(t.folder)).get_template(f"{t.name}.sql"),
)

row("yaml", "mapping in a value", lambda t: yaml.safe_load("\n" * t.number + f"a: b: {t.number}"))
row("yaml", "tab", lambda t: yaml.safe_load("\n" * t.number + "\ta: 1"))
row("yaml", "alias is missing", lambda t: yaml.safe_load("\n" * t.number + f"a: *x{t.number}"))
row("yaml", "tag is unknown", lambda t: yaml.safe_load("\n" * t.number + f"a: !x{t.number} 1"))


def _check(value: object, **schema: object) -> None:
    jsonschema.validate(value, {"type": "object", "properties": {"value": schema}, "required": ["value"]})


row("jsonschema", "wrong type", lambda t: _check({"value": t.name}, type="integer"))
row("jsonschema", "too big", lambda t: _check({"value": t.number}, maximum=5))
row("jsonschema", "too long", lambda t: _check({"value": t.id}, maxLength=5))
row("jsonschema", "missing", lambda t: _check({"other": t.number}))

_KEY = "k" * 32


def _decode(token: str, key: str = _KEY) -> None:
    jwt.decode(token, key, algorithms=["HS256"], audience="here")


row("jwt", "no token", lambda t: _decode(t.id))
row("jwt", "expired", lambda t: _decode(jwt.encode({"exp": t.number, "aud": "here"}, _KEY)))
row("jwt", "signature", lambda t: _decode(jwt.encode({"id": t.id, "aud": "here"}, _KEY[::-1] + "x")))
row("jwt", "audience", lambda t: _decode(jwt.encode({"id": t.id, "aud": t.name}, _KEY)))

row("pendulum", "no time", lambda t: pendulum.parse(t.name))
row("pendulum", "hour is too big", lambda t: pendulum.parse(f"2026-01-{t.number % 28 + 1:02}T25:00:00"))
row("croniter", "not enough fields", lambda t: croniter.croniter(f"{t.number % 60} *"))
row("croniter", "minute is too big", lambda t: croniter.croniter(f"{t.number % 28 + 60} * * * *"))
row("croniter", "day is a word", lambda t: croniter.croniter(f"{t.number % 60} 0 someday * *"))
