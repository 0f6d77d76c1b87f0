"""The renderer of pages: texts stay texts, nothing runs that was not given, and nothing is asked for."""

import base64
import hashlib
import re
import sys

import pytest

pytest.importorskip("jinja2")

from pathforest._pages.page import render

ODD = "</script><img src=x onerror=alert(1)>&'\""
TEMPLATE = """{% extends "page.html" %}
{% import "pieces.html" as pieces %}
{% block style %}.own { color: red; }{% endblock %}
{% block lead %}{{ odd }}{% endblock %}
{% block first %}
{{ pieces.table(odd, [odd, "b"], [[odd, odd]], words=[odd]) }}{{ pieces.cards([(odd, odd)]) }}
{{ pieces.findings([(odd, odd), ("left out", "")]) }}{{ pieces.facts([(odd, odd)]) }}
{{ pieces.commands(odd, odd) }}
{% endblock %}
{% block second %}{{ missing }}{% endblock %}
"""


def a_page(folder, sections, **options):
    (folder / "own.html").write_text(TEMPLATE)
    return render(folder / "own.html", title=ODD, sections=sections, odd=ODD, **options)


def test_texts_are_no_markup(tmp_path):
    text = a_page(tmp_path, [("first", ODD)])
    assert "<img" not in text
    assert text.count("&lt;img") == 18
    assert "left out" not in text


@pytest.mark.parametrize("scripts", [[], ["let a = '<b>&amp;';", "let b;"]])
def test_a_page_runs_the_given_scripts_and_asks_for_nothing(tmp_path, scripts):
    text = a_page(tmp_path, [("first", "One")], scripts=scripts)
    assert re.findall("<script>(.*?)</script>", text) == scripts
    allowed = [base64.b64encode(hashlib.sha256(s.encode()).digest()).decode() for s in scripts]
    policy = re.search('Security-Policy" content="(.*?)"', text)[1]
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src ")
    assert re.findall("'(.*?)'", policy.partition("script-src ")[2]) == (
        [f"sha256-{digest}" for digest in allowed] or ["none"]
    )
    assert re.findall(r"(?:src|href)=\"(?!data:|#)|@import|url\(", text) == []


def test_sections_come_as_they_are_asked_for_with_links_that_lead_to_them(tmp_path):
    text = a_page(tmp_path, [("first", "One")])
    assert re.findall('href="#(.*?)"', text) == ["main", "first"]
    assert re.findall('<section id="(.*?)"', text) == ["first"]
    assert ".own" in text.partition("</style>")[0]


def test_a_value_that_is_missing_is_an_error(tmp_path):
    with pytest.raises(Exception, match="missing"):
        a_page(tmp_path, [("first", "One"), ("second", "Two")])


def test_without_jinja_the_error_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ImportError, match=r"pathforest\[cli\]"):
        a_page(tmp_path, [])
