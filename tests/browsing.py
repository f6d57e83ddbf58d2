"""Pages in a real browser, from a file, without a network."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
browser = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")

PRINT = """
Array.from(document.styleSheets).forEach(function (sheet) { Array.from(sheet.cssRules).forEach(function (rule) {
  if (rule.media && rule.media.mediaText === 'print') rule.media.mediaText = 'all'; }); });
document.body.style.width = '690px';
window.dispatchEvent(new Event('beforeprint'));
function shown(e) { return e.getClientRects().length > 0; }
var all = Array.from(document.querySelectorAll('body *'));
document.body.dataset.shown = [
  all.filter(function (e) { return e.matches('.screen-only') && shown(e); }).length,
  all.filter(function (e) { return e.matches('.paper-only') && !shown(e); }).length,
  document.querySelectorAll('details.claim:not([open])').length,
  Array.from(document.querySelectorAll('.form')).filter(function (f) { return !shown(f); }).length].join(' ');
document.body.dataset.right = Math.max.apply(null, all.filter(shown).map(function (e) {
  return e.getBoundingClientRect().right - document.body.getBoundingClientRect().right; })).toFixed(0);
document.body.dataset.filled = Array.from(document.querySelectorAll('.badge, .matrix a')).filter(function (e) {
  return getComputedStyle(e).backgroundColor !== 'rgba(0, 0, 0, 0)'; }).length;
window.dispatchEvent(new Event('afterprint'));
document.body.dataset.open = document.querySelectorAll('details.claim[open]').length;
"""
"""Shows the report as it is printed on A4, and writes down: parts for the screen that are shown, parts for paper that
are not, closed sections, forms that are not shown; how far anything reaches beyond the edge; coloured backgrounds;
sections that are open afterwards."""


def axe() -> str:
    """Return the source of axe-core, from the folder of Node modules that NODE_PATH names; empty if there is none."""
    folders = os.environ.get("NODE_PATH", "").split(os.pathsep)
    found = (Path(folder) / "axe-core" / "axe.min.js" for folder in folders if folder)
    return next((path.read_text(encoding="utf-8") for path in found if path.is_file()), "")


AXE = """
Array.from(document.querySelectorAll('details')).forEach(function (d) { d.open = true; });
setTimeout(function () {
  axe.run(document, {resultTypes: ['violations']}).then(function (found) {
    document.body.dataset.axe = found.violations.map(function (v) {
      return v.impact + ' ' + v.id + ' ' + v.nodes[0].html; }).join('\\n');
  });
}, 500);
"""
"""Opens all sections, waits for the page to notice, and writes down what axe-core finds."""


def browse(path: Path, *flags: str, budget: int = 4000) -> subprocess.CompletedProcess[str]:
    """Load a page and return what came of it."""
    command = [
        str(CHROMIUM),
        *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
        *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
        *("--enable-logging=stderr", f"--virtual-time-budget={budget}", f"--user-data-dir={path.parent / 'profile'}"),
        *("--host-resolver-rules=MAP * ~NOTFOUND", *flags, path.as_uri()),
    ]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)


def dump(path: Path, script: str = "", *flags: str, budget: int = 4000) -> tuple[str, list[str]]:
    """Load a page, run a script in it, and return the document and what was logged."""
    probe = path.with_name("probe.html")
    probe.write_text(path.read_text().replace("</body>", f"<script>{script}</script></body>"))
    done = browse(probe, *flags, "--dump-dom", budget=budget)
    probe.unlink()
    return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]


def pages(path: Path) -> int:
    """Return how many pages a page has when it is printed."""
    paper = path.with_suffix(".pdf")
    browse(path, "--no-pdf-header-footer", f"--print-to-pdf={paper}")
    return len(re.findall(rb"/Type\s*/Page\b", paper.read_bytes()))


def check_print(path: Path) -> None:
    """Assert that print has every form, without the long parts, inside the edges, also from a dark screen."""
    dom, logged = dump(path, PRINT, "--blink-settings=preferredColorScheme=0")
    assert not logged
    body = re.search(r"<body[^>]*>", dom)
    assert body
    assert 'data-shown="0 0 0 0"' in body[0]
    assert 'data-filled="0"' in body[0]  # white letters would vanish where backgrounds are not printed
    assert 'data-open="0"' in body[0]
    right = re.search(r'data-right="(-?\d+)"', body[0])
    assert right
    assert int(right[1]) <= 0
