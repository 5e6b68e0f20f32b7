"""Credentials in documents: masked in every spelling and format, and nothing else is."""

import json
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ingest.readers.credentials import MASK, masked
from ingest.readers.loader import Document, UnreadableDocument, load
from tests.growth import gently, growth
from tests.ingest.readers.test_loader import shown

HEX = "0f1e2d3c4b5a69788796a5b4c3d2e1f0"
MIXED = "k7Qz2Vw9Xc4Tb8Rn5Lm1Pj6Hg3Fd0SaYu"
"""Random values as services make them; split, so that no scanner takes this file for a leak."""
TOKENS = {
    "AWS key": "AKIA" + "Z7QW2XC4TB8RN5LM",
    "GitHub": "ghp_" + MIXED + "aBc",
    "GitLab deploy": "gldt-" + MIXED[:20],
    "Google OAuth": "ya29." + MIXED,
    "SendGrid": "SG." + MIXED[:22] + "." + MIXED + MIXED[:10],
    "Twilio": "SK" + HEX,
    "Vault": "hvs." + MIXED,
    "Grafana": "glsa_" + MIXED[:32] + "_0f1e2d3c",
    "Hugging Face": "hf_" + "kQzVwXcTbRnLmPjHgFdSaYuIoEtWqAsDxZ",
    "PyPI": "pypi-" + "AgEIcHlwaS5vcmc" + MIXED + MIXED,
    "Docker": "dckr_pat_" + MIXED[:27],
    "DigitalOcean": "dop_v1_" + HEX + HEX,
    "Shopify": "shpat_" + HEX,
    "Mailchimp": HEX + "-us12",
    "Discord bot": "M" + MIXED[:24] + "." + MIXED[:6] + "." + MIXED[:27],
    "Slack webhook": "T02A4B6C8/B03D5E7F9/" + MIXED[:24],
    "JWT": f"eyJ{MIXED[:20]}.eyJ{MIXED}.{MIXED}",
    "a vendor without a form": "newco_pat_" + MIXED,
    "age": "AGE-SECRET-KEY-1" + "Q2W4E6R8T0Y1U3I5O7P9" * 3,
}
PLACES = {
    "Slack webhook": "https://hooks.slack.com/services/{}",
}
NAMED = {
    "aws_session_token = {}": "FwoGZXIvYXdzEBYa" + MIXED + "/+" + MIXED + "==",
    "secretKey: {}": MIXED,
    '"clientSecret": "{}"': MIXED,
    "aws_secret_access_key={}": (MIXED + "abcdefgh/+12")[:40],
    "DefaultEndpointsProtocol=https;AccountKey={};": MIXED * 2 + "aB3/+x==",
    "https://a.blob.test/c?sv=2024&sig={}&se=1": MIXED + "%2Bx%3D",
    "DB_PASSWORD={}": MIXED,
    '{"auths": {"registry.acme.test": {"auth": "{}"}}}': "bGVkZ2VyOlN1cDNyUHdRN3hWMm5LOQ==",
    "postgres://ledger:{}@db-1:5432/ledger": "Sup3rPw",
    "https://deploy:{}@git.acme.test/x.git": "correcthorsebattery",
    "Authorization: Bearer {}": MIXED,
    "Authorization: Basic {}": "bGVkZ2VyOlN1cDNyUHc=",
    "curl -s -u ledger:{} https://a.test": "Sup3rPw",
}
CASES = [
    *(
        pytest.param(PLACES.get(name, "Use {} here."), value, id=name)
        for name, value in TOKENS.items()
    ),
    *(pytest.param(form, value, id=form) for form, value in NAMED.items()),
]


def everything(document: Document) -> str:
    """All that a document hands on."""
    parts = (document.title, document.owner, document.tags, document.parsed)
    return " ".join(map(str, parts))


@pytest.mark.parametrize(("form", "value"), CASES)
@pytest.mark.parametrize(
    "page",
    [
        "# Keys\n\nFirst line.\n\n{}\n",
        "# Keys\n\n## {}\n\nText.\n",
        "# Keys\n\n```\n{}\n```\n",
        "# Keys\n\n| a | b |\n|---|---|\n| {} | x |\n",
    ],
)
def test_a_credential_is_masked_in_markdown(page: str, form: str, value: str) -> None:
    text = page.replace("{}", form.replace("{}", value))
    document = load("a.md", text.encode())
    assert value not in everything(document)
    assert MASK in everything(document)
    line = text[: text.index(value)].count("\n") + 1
    assert document.masked_lines == (line,)


@pytest.mark.parametrize(("form", "value"), CASES)
def test_a_credential_is_masked_behind_tags_and_entities(form: str, value: str) -> None:
    half = len(value) // 2
    spellings = [
        f"{value[:half]}<b>{value[half:]}</b>",
        f"{value[:half]}&#{ord(value[half])};{value[half + 1 :]}",
        f"{value[:half]}&#x{ord(value[half]):x};{value[half + 1 :]}",
        f"{value[:half]}<wbr>{value[half:]}",
        f"{value[:half]}&shy;{value[half:]}",
        f"{value[:half]}\u200b{value[half:]}",
        f"{value[:half]}<!-- x -->{value[half:]}",
    ]
    for spelling in spellings:
        said = form.replace("{}", spelling).replace('"', "&quot;")
        page = f"<html><title>Keys {said}</title><body><h1>{said}</h1>\n<p>{said}</p></body></html>"
        document = load("a.html", page.encode())
        assert value[half:] not in everything(document), spelling
        assert set(document.masked_lines) == {1, 2}
        markdown = load("a.md", f"# A\n\ntext {said}\n".encode())
        assert value[half + 1 :] not in everything(markdown), spelling


@pytest.mark.parametrize("value", TOKENS.values(), ids=TOKENS)
def test_a_credential_in_facts_about_a_document_is_masked(value: str) -> None:
    value = f"https://hooks.slack.com/services/{value}" if value.startswith("T0") else value
    escaped = f"\\x{ord(value[0]):02x}{value[1:]}"
    fields = f'title: "Key {escaped}"\nowner: "{escaped}"\ntags: ["{escaped}"]'
    page = f"---\n{fields}\n---\n\n# A\n\nText.\n"
    document = load("a.md", page.encode())
    assert value.rpartition("/")[2][2:] not in everything(document)
    assert document.masked_lines


def test_a_credential_in_a_cell_of_a_notebook_is_masked_on_its_line() -> None:
    cells = [{"cell_type": "code", "source": ["import x\n", f"key = '{TOKENS['Vault']}'"]}]
    data = json.dumps({"cells": cells, "metadata": {}}, indent=1).encode()
    document = load("a.ipynb", data)
    assert TOKENS["Vault"] not in everything(document)
    line = next(n for n, text in enumerate(data.decode().split("\n"), 1) if "hvs." in text)
    assert document.masked_lines == (line,)


def test_a_path_with_a_credential_is_not_read() -> None:
    with pytest.raises(UnreadableDocument) as caught:
        load(f"keys/{TOKENS['GitHub']}.md", b"# A\n\nText.\n")
    assert TOKENS["GitHub"] not in caught.value.reason


BODY = "\n".join(["MIIEpAIBAAKCAQEA7bq" + MIXED] * 3)


@pytest.mark.parametrize(
    "key",
    [
        f"-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0F1E\n\n"
        f"{BODY}\n-----END RSA PRIVATE KEY-----",
        f"-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: GnuPG v2\n\n{BODY}\n=kQ2z\n"
        "-----END PGP PRIVATE KEY BLOCK-----",
        f"---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\nComment: x\n{BODY}\n"
        "---- END SSH2 ENCRYPTED PRIVATE KEY ----",
        f"PuTTY-User-Key-File-3: ssh-rsa\nPrivate-Lines: 3\n{BODY}\nPrivate-MAC: {HEX}",
        "key: |\n  -----BEGIN PRIVATE KEY-----\n  " + BODY.replace("\n", "\n  "),
        '{"key": "-----BEGIN PRIVATE KEY-----\\n' + BODY.replace("\n", "\\n") + '\\n-----END"}',
    ],
    ids=["encrypted", "PGP", "SSH2", "PuTTY", "without an end", "in JSON"],
)
@pytest.mark.parametrize("blank", ["", "\n"])
def test_the_whole_body_of_a_private_key_is_masked(key: str, blank: str) -> None:
    text = shown("a.md", f"# A\n\n```\n{key}\n{blank}```\n\nThe next words stay.\n")
    assert "MIIEp" not in text
    assert MIXED not in text
    assert "The next words stay." in text


READABLE = [
    "git checkout 0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c",
    "image: app@sha256:" + HEX + HEX,
    "ETag: " + HEX,
    "id: 6ba7b810-9dad-11d1-80b4-00c04fd430c8",
    "token: <YOUR_TOKEN>",
    "token: $VAULT_TOKEN",
    "secretName: payments-api-tls-7f9c8d6b5",
    "GITHUB_TOKEN=ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX",
    "postgres://user:password@db-1/ledger",
    "postgres://postgres:postgres@localhost/test",
    "amqp://guest:guest@mq:5672",
    "https://$USER:$TOKEN@git.acme.test",
    "https://user:<password>@git.acme.test",
    "Authorization: Bearer $TOKEN",
    "Authorization: Bearer <token>",
    "Basic authentication and bearer tokens are explained below.",
    "Authorization: Basic dXNlcjpwYXNzd29yZA==",
    "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
    "-----BEGIN CERTIFICATE-----\n" + BODY + "\n-----END CERTIFICATE-----",
    "Look for `-----BEGIN RSA PRIVATE KEY-----` at the top: such a file stays out of the repo.",
    "password = hunter2",
    "DB_PASSWORD=change-me-before-production",
    "certificate-authority-data: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUM1ekND" + MIXED,
    "secret: c2VjcmV0IGlzIHNlY3VyZQ==",
    "kubeadm join --token abcdef.0123456789abcdef --token-ca-cert-hash sha256:" + HEX + HEX,
    "accessTokenLifetime: 3600, refreshTokenRotationInterval: 86400",
    "token: payments-service-account-token-secret",
    "docker run -u 1000:1000 app && curl -u $USER:$PASSWORD https://a.test",
    "https://calendar.acme.test/r?sstoken=UUtoczVQMkFlT2FSfGRlZmF1bHR8OTE5Y2UyMDB",
    "http://[::1]:8080/x?y=a:b@c",
    "integrity: sha512-" + MIXED * 2,
    "image: payments-" + HEX,
    "kubectl certificate approve node-csr-" + MIXED,
    "https://docs.test/page-" + MIXED,
    "pod: payments-api-7f9c8d6b5-x2k4p",
    "12345678:" + HEX + "0f1e2d3c",
]  # fmt: skip


@pytest.mark.parametrize("text", READABLE)
def test_what_only_looks_like_a_credential_stays_readable(text: str) -> None:
    assert masked(text) == (text, ())


@settings(deadline=None)
@given(st.lists(st.sampled_from([*TOKENS.values(), *READABLE, "\n", "<b>", "&#65;", "**", "x "])))
@example(["\n", "AKIA" + "Z7QW2XC4TB8RN5LM", "\n"])
def test_lines_keep_their_number_and_each_mask_is_told(parts: list[str]) -> None:
    text = "".join(parts)
    after, lines = masked(text)
    assert after.count("\n") == text.count("\n")
    assert all(MASK in after.split("\n")[line - 1 :][0] or "KEY" in text for line in lines)
    assert bool(lines) == (after != text)


@pytest.mark.parametrize(
    "text",
    [
        *TOKENS.values(),
        *(form.replace("{}", value) for form, value in NAMED.items()),
        *(
            "-----BEGIN PRIVATE KEY-----\n",
            "-----BEGIN PRIVATE KEY-----\nMIIE ",
            "Private-Lines: 3\n",
        ),
        *("<b", "<!--", "&#65;", "&amp", "\\", "token: a1", "://a:", "://a:b", "curl ", "curl -u "),
        *("secret" * 3, "0f1e2d3c", "Bearer a1", "AC", "M", "gh_", "AP" + MIXED, "1234567890:"),
    ],
)
def test_the_time_grows_with_the_length(text: str) -> None:
    work = lambda size: partial(masked, text * (size // len(text) + 1))  # noqa: E731
    assert growth(work, gently(20_000)) is None


def test_the_detector_is_loaded_by_an_ingest_only() -> None:
    code = "import sys, bot.cli, agent.cli, ingest.cli, ingest.readers.loader\n"
    code += "sys.exit('detect_secrets' in sys.modules)"
    root = Path(__file__).parents[3]
    assert subprocess.run([sys.executable, "-c", code], cwd=root, check=False).returncode == 0
