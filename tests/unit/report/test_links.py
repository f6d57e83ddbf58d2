"""Pages of claims that anybody may have written: links lead to the web or to the page, never into a script."""

import html
import re

import pytest

from fltheory.report.links import harmless
from fltheory.report.markup import page

HARMFUL = [
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    "java\tscript:alert(1)",
    "vbscript:x",
    "data:text/html,<script>alert(1)</script>",
    "file:///etc/passwd",
]


def targets(text):
    return [html.unescape(found) for found in re.findall(r'(?:href|src|data)="([^"]*)"', text)]


@pytest.mark.parametrize("target", HARMFUL)
@pytest.mark.parametrize(
    "docstring",
    ["See `here <{}>`_.", "See here_.\n\n.. _here: {}\n", ".. image:: {}\n", ".. image:: x.png\n   :target: {}\n"],
    ids=["inline", "named", "image", "picture with a link"],
)
def test_no_harmful_link_reaches_a_page(docstring, target):
    found = targets(page(docstring.format(target)))
    assert all(not re.match(r"(?!https?:|mailto:)[a-z]+:", "".join(link.lower().split())) for link in found), found


def test_links_to_the_web_and_inside_the_page_stay():
    text = page("`a <https://example.org/x?y=1&z=2>`_, b_ and https://example.org.\n\n.. _b: #ruan.eq-7\n")
    assert targets(text) == ["https://example.org/x?y=1&z=2", "#ruan.eq-7", "https://example.org"]


@pytest.mark.parametrize("target", ["&#106;avascript:x", " javascript:x", "\x01javascript:x", "java&#x0A;script:x"])
def test_what_browsers_overlook_is_overlooked(target):
    assert harmless(f'<a href="{target}">x</a>') == '<a href="#">x</a>'
