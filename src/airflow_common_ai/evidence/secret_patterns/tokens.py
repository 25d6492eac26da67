"""Tokens that vendors made recognisable. Adding one is adding a line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from airflow_common_ai.evidence.secret_patterns.spans import Span, compiled

__all__ = ["TOKENS", "Token"]

_ANY = r"[\w\-]{16,}"
_LETTERS = r"[A-Za-z0-9]{20,}"
_HEX = r"[0-9a-f]{20,}"
_BASE64 = r"[A-Za-z0-9+/=_\-]{16,}"


class Token(NamedTuple):
    """A kind of token that begins like no other word."""

    name: str
    source: str
    """Where the form is documented."""
    prefixes: tuple[str, ...]
    tail: str
    """An expression for what follows one of the prefixes; if it has a group ``secret``, only that is secret."""

    def find(self, text: str, lowered: str) -> Iterator[Span]:
        """Find the tokens; a prefix inside a word, such as ``sk-`` in ``task-``, is none."""
        pattern = compiled(self.tail)
        for prefix in self.prefixes:
            start = text.find(prefix)
            while start >= 0:
                tail = None
                if not start or not text[start - 1].isalnum():
                    tail = pattern.match(text, start + len(prefix))
                if tail is not None:
                    yield (start, tail.end()) if tail.lastgroup is None else tail.span("secret")
                start = text.find(prefix, start + len(prefix) if tail is None else tail.end())


def _token(name: str, source: str, prefixes: str, tail: str) -> Token:
    return Token(name, source, tuple(prefixes.split()), tail)


TOKENS: tuple[Token, ...] = (
    _token("AWS access key id", "IAM user guide, unique identifiers", "AKIA ASIA ABIA ACCA", r"[A-Z0-9]{12,124}\b"),
    _token("AWS session token", "the head that STS gives to each", "IQoJb3JpZ2lu FwoGZXIvYXdz FQoGZXIvYXdz", _BASE64),
    _token("Google API key", "cloud.google.com/docs/authentication/api-keys", "AIza", r"[\w\-]{25,}"),
    _token("Google access token", "Google's token endpoint", "ya29.", r"[\w\-.]{16,}"),
    _token("Google refresh token", "Google's token endpoint", "1//0", r"[\w\-]{20,}"),
    _token("Google authorization code", "Google's sign-in page", "4/0A", r"[\w\-]{20,}"),
    _token("Google client secret", "Google Cloud console", "GOCSPX- GOOG1E", r"[\w\-]{16,}"),
    _token("Alibaba access key id", "alibabacloud.com/help, RAM", "LTAI", r"[A-Za-z0-9]{12,26}\b"),
    _token("GitHub token", "github.blog 2021-04-05", "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_", r"\w{16,}"),
    _token(
        "GitLab token",
        "docs.gitlab.com, token prefixes",
        "glpat- gldt- glrt- glcbt- glptt- glft- glimt- glagent- gloas- glsoat- GR1348941",
        r"[\w\-.]{16,}",
    ),
    _token("Atlassian token", "support.atlassian.com, API tokens", "ATATT3 ATCTT3 ATBB", r"[\w\-=.]{20,}"),
    _token("Docker Hub token", "docs.docker.com, access tokens", "dckr_pat_ dckr_oat_", _ANY),
    _token("JFrog key", "jfrog.com/help, API keys and reference tokens", "AKCp cmVmdGtuO", _LETTERS),
    _token("npm token", "docs.npmjs.com, access tokens", "npm_", r"[A-Za-z0-9]{24,}"),
    _token("PyPI token", "pypi.org/help, API tokens", "pypi-AgE", _ANY),
    _token("RubyGems key", "guides.rubygems.org, API keys", "rubygems_", _HEX),
    _token(
        "Slack token",
        "docs.slack.dev, token types",
        "xoxb- xoxp- xoxa- xoxr- xoxs- xoxc- xoxd- xoxo- xoxe- xoxe.xox",
        r"[\w\-.%]{11,}",
    ),
    _token("Slack app token", "docs.slack.dev, token types", "xapp- xwfp-", r"[\w\-]{11,}"),
    _token(
        "webhook address",
        "whoever knows the address may post",
        "hooks.slack.com/services/ hooks.slack.com/workflows/ hooks.slack.com/triggers/ discord.com/api/webhooks/ "
        "discordapp.com/api/webhooks/ webhook.office.com/webhookb2/ webhook.office.com/webhook/ "
        "hooks.zapier.com/hooks/catch/ events.pagerduty.com/integration/ maker.ifttt.com/use/",
        r"(?P<secret>[\w\-/@.]{8,})",
    ),
    _token(
        "Stripe key",
        "docs.stripe.com/keys",
        "sk_live_ sk_test_ rk_live_ rk_test_ pk_live_ pk_test_",
        r"[A-Za-z0-9]{10,}",
    ),
    _token("Stripe webhook secret", "docs.stripe.com/webhooks", "whsec_", _BASE64),
    _token("SendGrid key", "twilio.com/docs/sendgrid, API keys", "SG.", r"[\w\-]{16,}\.[\w\-]{16,}"),
    _token(
        "Discord bot token",
        "discord.com/developers, authentication: the first part is a number in base64",
        "MT Mj Mz ND NT Nj Nz OD OT",
        r"[A-Za-z0-9]{20,26}\.[\w\-]{6}\.[\w\-]{27,}",
    ),
    _token("Twilio key", "twilio.com/docs/iam/api-keys", "SK", r"[0-9a-f]{32}\b"),
    _token(
        "Twilio login",
        "twilio.com/docs/usage/requests-to-twilio: the account and its token",
        "AC",
        r"[0-9a-f]{32}:[0-9a-f]{32}\b",
    ),
    _token("Mailgun key", "documentation.mailgun.com, API keys", "key-", r"[0-9a-f]{32}\b"),
    _token("Brevo key", "developers.brevo.com, API keys", "xkeysib-", r"[0-9a-f]{32,}[\w\-]*"),
    _token(
        "Databricks token",
        "docs.databricks.com, personal access tokens",
        "dapi dose dkea",
        r"[0-9a-f]{20,}(?:-[0-9])?\b",
    ),
    _token(
        "Snowflake session token",
        "snowflake-connector-python, auth",
        "ver:1-hint: ver:2-hint: ver:3-hint:",
        r"[0-9]{1,20}-[A-Za-z0-9+/=_\-]{16,}",
    ),
    _token("dbt token", "docs.getdbt.com, API tokens", "dbtc_ dbtu_", _ANY),
    _token("Prefect key", "docs.prefect.io, API keys", "pnu_ pnb_", _LETTERS),
    _token(
        "PlanetScale token",
        "planetscale.com/docs, service tokens",
        "pscale_tkn_ pscale_pw_ pscale_oauth_",
        r"[\w\-.]{16,}",
    ),
    _token(
        "Airtable token", "airtable.com/developers, personal access tokens", "pat", r"[A-Za-z0-9]{14}\.[0-9a-f]{32,}"
    ),
    _token("OpenAI project key", "platform.openai.com, API keys", "sk-proj- sk-svcacct- sk-admin- sk-None-", _ANY),
    _token(
        "OpenAI key", "platform.openai.com, and servers that speak its protocol", "sk-", r"[A-Za-z0-9]{16,}(?![\w\-])"
    ),
    _token("Anthropic key", "docs.claude.com, API keys", "sk-ant-", _ANY),
    _token("OpenRouter key", "openrouter.ai/docs, and Langfuse's and LiteLLM's", "sk-or- sk-lf- sk-litellm-", _ANY),
    _token(
        "Hugging Face token",
        "huggingface.co/docs/hub/security-tokens",
        "hf_ api_org_",
        r"(?=[a-z0-9]{0,40}[A-Z])[A-Za-z0-9]{20,}",
    ),
    _token("Groq key", "console.groq.com/docs", "gsk_", _LETTERS),
    _token("xAI key", "docs.x.ai", "xai-", _LETTERS),
    _token("Perplexity key", "docs.perplexity.ai", "pplx-", _LETTERS),
    _token("Replicate token", "replicate.com/docs", "r8_", _LETTERS),
    _token("Pinecone key", "docs.pinecone.io", "pcsk_", r"\w{20,}"),
    _token("LangSmith key", "docs.smith.langchain.com", "lsv2_pt_ lsv2_sk_", r"\w{20,}"),
    _token("Tavily key", "docs.tavily.com", "tvly-", _ANY),
    _token("Vault token", "developer.hashicorp.com/vault/docs/concepts/tokens", "hvs. hvb. hvr.", _ANY),
    _token("old Vault token", "Vault before 1.10", "s. b. r.", r"(?=[A-Za-z]{0,24}[0-9])[A-Za-z0-9]{24}\b"),
    _token("Grafana token", "grafana.com/docs, service accounts", "glsa_ glc_", r"[A-Za-z0-9_=+/]{20,}"),
    _token("New Relic key", "docs.newrelic.com, API keys", "NRAK- NRII- NRAL-", r"[A-Za-z0-9_\-]{20,}"),
    _token("Sentry token", "docs.sentry.io, auth tokens", "sntrys_ sntryu_", r"[A-Za-z0-9_=+/]{20,}"),
    _token("DigitalOcean token", "docs.digitalocean.com/reference/api", "dop_v1_ doo_v1_ dor_v1_", _HEX),
    _token(
        "Doppler token",
        "docs.doppler.com, token formats",
        "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.",
        r"[\w.\-]{20,}",
    ),
    _token("Postman key", "learning.postman.com, API keys", "PMAK-", r"[0-9a-f\-]{20,}"),
    _token("Linear key", "linear.app/developers", "lin_api_ lin_oauth_", _LETTERS),
    _token("Notion token", "developers.notion.com", "ntn_", _LETTERS),
    _token("Notion secret", "developers.notion.com", "secret_", r"(?=[a-z0-9]{0,40}[A-Z])[A-Za-z0-9]{40,}"),
    _token("Figma token", "figma.com/developers", "figd_", _ANY),
    _token("Shopify token", "shopify.dev, access tokens", "shpat_ shpca_ shppa_ shpss_", r"[0-9A-Fa-f]{20,}"),
    _token(
        "build service token",
        "docs of CircleCI, Netlify, Buildkite, Pulumi",
        "CCIPAT_ nfp_ bkua_ pul-",
        r"(?=\w{0,40}[0-9])\w{20,}",
    ),
    _token("Supabase token", "supabase.com/docs, management API", "sbp_", _HEX),
    _token("1Password token", "developer.1password.com, service accounts", "ops_eyJ", r"[\w\-+/=]{20,}"),
    _token("age key", "age-encryption.org/v1", "AGE-SECRET-KEY-1", r"[A-Z0-9]{20,}"),
    _token("Fernet token", "github.com/fernet/spec", "gAAAAA", r"[\w\-]{40,}={0,2}"),
    _token("SAML message", "SAML 2.0 bindings, section 3.5: base64 of XML", "PHNhbW", r"[\w+/=%\-]{16,}"),
    _token("JSON web token", "RFC 7519", "eyJ", r"[\w\-]{8,}(?:\.[\w\-=]{4,}){1,4}\.?"),
)
"""The lengths are the shortest that no other word has, not those in use: vendors lengthen their tokens."""
