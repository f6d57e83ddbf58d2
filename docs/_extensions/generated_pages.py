"""Pages that are written at build time: one per claim, one per algorithm, and the reference of every public name.

They are written as reStructuredText into ``reference/generated``, which is not kept in the repository. A page is
written again only if it has changed, so that a second build is quick.
"""

import importlib
import importlib.util
import inspect
import re
import types
from collections.abc import Iterable, Mapping
from pathlib import Path

from sphinx.application import Sphinx
from verdicts import Verdict, verdicts

from fltheory import algorithms
from fltheory.algorithms import Algorithm
from fltheory.bounds import catalogue
from fltheory.bounds.claim import Claim, Form
from fltheory.bounds.papers import PAPERS, paper_of
from fltheory.bounds.printing import as_used, latex
from fltheory.report import notes
from fltheory.report.markup import with_names
from fltheory.report.sections import BETWEEN
from fltheory.report.wording import form_name
from fltheory.validation.severity import ORDER
from fltheory.validation.summary import printed

MODULES = (
    "fltheory.claims",
    "fltheory.problems",
    "fltheory.participation",
    "fltheory.strategies",
    "fltheory.conformance",
    "fltheory.datasets",
    "fltheory.simulation.schedules",
    "fltheory.algorithms",
    "fltheory",
)
"""Public modules, the more special ones first: an object is described where it is met first."""


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the pages before any source is read."""
    app.connect("builder-inited", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def write(app: Sphinx) -> None:
    """Write all pages, and remove those of claims and algorithms that are gone."""
    folder = Path(app.srcdir) / "reference" / "generated"
    pages = claim_pages() | algorithm_pages() | module_pages()
    for name, text in pages.items():
        path = folder / f"{name}.rst"
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
    for path in folder.rglob("*.rst"):
        if path.relative_to(folder).as_posix().removesuffix(".rst") not in pages:
            path.unlink()


def claim_pages() -> dict[str, str]:
    """Return a page for every claim, and a list of claims for every paper."""
    entries = list(catalogue.index().values())
    known = {entry.id for entry in entries}
    found = verdicts()
    pages = {f"claims/{page_name(entry.id)}": claim_page(entry, known, found.get(entry.id, {})) for entry in entries}
    shared = {name for entry in entries for name in notes.targets(inspect.getdoc(entry.module()) or "")}
    pages |= {f"claims/{page_name(notes.anchor(name))}": note_page(name) for name in sorted(shared)}
    for paper, cited in PAPERS.items():
        own = [entry for entry in entries if entry.paper == paper]
        rows = [
            (
                f":doc:`{entry.id} <{page_name(entry.id)}>`",
                entry.title,
                entry.reference,
                as_printed(found.get(entry.id, {})),
            )
            for entry in own
        ]
        pages[f"claims/index-{paper}"] = "\n".join(
            [
                *heading(f"Statements of {cited.short}", "="),
                f"{cited.full}. What holds, what does not and why is on the :doc:`page of the paper",
                f"</papers/{paper}>`; verdicts are those of the :doc:`ledger </ledger>`.",
                "",
                *table(("statement", "what it says", "where it is printed", "as printed"), rows),
                *contents((page_name(entry.id) for entry in own), hidden=True),
            ]
        )
    return pages


def page_name(id_: str) -> str:
    """Return the name of a claim's page; a dot in it would be taken for the beginning of a suffix.

    >>> page_name("ruan.theorem-3.1")
    'ruan-theorem-3-1'
    """
    return id_.replace(".", "-")


def as_printed(found: Mapping[str, Verdict]) -> str:
    """Return in a few words whether a statement holds as printed; what fails is named by its gravest severity."""
    forms = [{"variant": variant, "verdict": verdict.decision} for variant, verdict in found.items()]
    words = {"HOLDS": "holds", "VIOLATED": "violated", "MIXED": "violated in part", "INCONCLUSIVE": "open"}
    said = words.get(printed({"error": "", "forms": forms}), "not checked")
    grave = [verdict.severity for verdict in found.values() if verdict.severity]
    return f"{said} ({max(grave, key=ORDER.index)})" if grave else said


def claim_page(entry: catalogue.Entry, known: set[str], found: Mapping[str, Verdict]) -> str:
    """Return the page of a claim: docstring, forms with verdicts, symbols, assumptions, what its proof uses."""
    module = entry.module()
    claim: Claim = module.claim
    lines = [
        *heading(entry.id, "="),
        f"{paper_of(entry.paper)}, {entry.reference}.",
        "",
        *linked(docstring(module)),
    ]
    lines += heading("Forms", "-")
    for form in claim.forms:
        lines += form_lines(form, found.get(form.variant))
    expressions = [part for form in claim.forms for part in form.parts()]
    rows = [(f"``{q.name}``", f":math:`{as_used(q, expressions)}`", q.meaning) for q in claim.quantities()]
    lines += [*heading("Symbols", "-"), *table(("name", "symbol", "meaning"), rows)]
    conditions = {a.name: a for form in claim.forms for a in claim.assumptions_of(form)}
    if conditions:
        lines += heading("Assumptions that are evaluated on every instance", "-")
        rows = [(name, f":math:`{latex(a.relation)}`", a.origin.value) for name, a in conditions.items()]
        lines += table(("assumption", "relation", "where its constants come from"), rows)
    if claim.uses:
        links = (f":doc:`{id_} <{page_name(id_)}>`" if id_ in known else id_ for id_ in claim.uses)
        lines += [*heading("Statements that the published proof uses", "-"), ", ".join(links) + ".", ""]
    lines += [*heading("Check it", "-"), ".. code-block:: bash", "", f"   fltheory check {entry.id}", ""]
    return "\n".join(lines)


def note_page(name: str) -> str:
    """Return the page of notes that several statements share."""
    title = f"{notes.owner(name)}: {notes.title(name)}"
    return "\n".join([":orphan:", "", *heading(title, "="), *linked(notes.text(name).splitlines()), ""])


def linked(lines: Iterable[str]) -> list[str]:
    """Return a docstring with links to the pages of statements and notes."""
    pages = notes.linked("\n".join(lines), lambda words, target: f":doc:`{words} <{page_name(notes.anchor(target))}>`")
    return with_names(pages).split("\n")


def form_lines(form: Form, verdict: Verdict | None) -> list[str]:
    """Return a form of a claim: its name, its formula, its note, its verdict."""
    note = [f"{form.note[0].upper()}{form.note[1:]}.", ""] if form.note else []
    parts = " \\\\\n   ".join(form.latex().split(BETWEEN))
    said = [re.sub(r"([\\*_`|])", r"\\\1", verdict.in_words()), ""] if verdict else []
    return [f"**{form_name(form.variant)}** (``{form.variant}``)", "", ".. math::", "", f"   {parts}", "", *note, *said]


def algorithm_pages() -> dict[str, str]:
    """Return a page for every algorithm, from the docstring of its file, and a list of them."""
    found = algorithm_classes()
    pages = {}
    for cls in found:
        module = importlib.import_module(cls.__module__)
        described = [f".. autoclass:: fltheory.algorithms.{cls.__name__}", "   :members:", ""]
        pages[f"algorithms/{cls.__name__}"] = "\n".join(
            [*heading(cls.__name__, "="), *docstring(module), *heading("Class", "-"), *described]
        )
    rows = [
        (f":doc:`{cls.__name__} <{cls.__name__}>`", first_line(importlib.import_module(cls.__module__)))
        for cls in found
    ]
    pages["algorithms/index"] = "\n".join(
        [
            *heading("Algorithms", "="),
            "One file each; the docstring of the file is the page.",
            "",
            *table(("algorithm", "what it is"), rows),
            *contents((cls.__name__ for cls in found), hidden=True),
        ]
    )
    return pages


def algorithm_classes() -> list[type]:
    """Return all algorithms of the package, by name."""
    exported = (getattr(algorithms, name) for name in algorithms.__all__)
    found = [a for a in exported if inspect.isclass(a) and a is not Algorithm and hasattr(a, "round")]
    return sorted((a for a in found if a.__module__.startswith("fltheory.algorithms.")), key=lambda a: a.__name__)


def module_pages() -> dict[str, str]:
    """Return the reference: a page for every public module, with all of its public names."""
    described = {id(cls): f"fltheory.algorithms.{cls.__name__}" for cls in algorithm_classes()}
    names = [name for name in MODULES if importlib.util.find_spec(name)]
    pages = {f"api/{name}": module_page(name, importlib.import_module(name), described) for name in names}
    words = "``import fltheory as fl`` is all that most users need; the other modules are for extending it."
    listed = contents(reversed(names), hidden=False)
    pages["api/index"] = "\n".join([*heading("Public names", "="), words, "", *listed])
    return pages


def places() -> dict[int, str]:
    """Return by identity under which name every public object is described."""
    found = {id(cls): f"fltheory.algorithms.{cls.__name__}" for cls in algorithm_classes()}
    for name in MODULES:
        module = importlib.import_module(name)
        for public in public_names(module):
            found.setdefault(id(getattr(module, public)), f"{name}.{public}")
    return found


def module_page(name: str, module: types.ModuleType, described: dict[int, str]) -> str:
    """Return the page of a module; what is described elsewhere, as ``described`` says by identity, is linked."""
    lines = [*heading(name, "="), *docstring(module), f".. currentmodule:: {name}", ""]
    rows, entries = [], list[str]()
    for public in public_names(module):
        value = getattr(module, public)
        if inspect.ismodule(value):
            link = f":doc:`{public} <{value.__name__}>`" if value.__name__ in MODULES else f"``{public}``"
            rows.append((link, first_line(value)))
            continue
        role = "class" if inspect.isclass(value) else "func" if inspect.isroutine(value) else "data"
        known = id(value) in described
        rows.append((f":{role}:`{public} <{described.setdefault(id(value), f'{name}.{public}')}>`", first_line(value)))
        if known:
            continue
        directive = {"class": "autoclass", "func": "autofunction", "data": "autodata"}[role]
        entries += [f".. {directive}:: {name}.{public}", *(["   :members:"] if role == "class" else []), ""]
    lines += table(("name", "what it is for"), rows)
    return "\n".join([*lines, *entries])


def public_names(module: types.ModuleType) -> list[str]:
    """Return the names that a module exports; without a list of them, the classes and functions that it defines."""
    listed = [name for name in getattr(module, "__all__", ()) if not name.startswith("__")]
    defined = [
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", None) == module.__name__
    ]
    return listed or defined


def docstring(thing: object) -> list[str]:
    """Return the docstring as lines, followed by an empty one."""
    return [*(inspect.getdoc(thing) or "").splitlines(), ""]


def first_line(thing: object) -> str:
    """Return the first sentence of a docstring; plain values have none of their own."""
    if not (inspect.ismodule(thing) or inspect.isclass(thing) or inspect.isroutine(thing)):
        return f"a {type(thing).__name__}"
    paragraph = (inspect.getdoc(thing) or "").split("\n\n")[0]
    return " ".join(paragraph.split())


def heading(text: str, line: str) -> list[str]:
    """Return a heading."""
    return [text, line * len(text), ""]


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> list[str]:
    """Return a table."""
    lines = [".. list-table::", "   :header-rows: 1", ""]
    for row in (head, *rows):
        # A cell that begins with the number of an equation is no list.
        cells = (f"\\{cell}" if cell.startswith("(") else cell for cell in row)
        lines += [f"   {'* -' if place == 0 else '  -'} {cell}" for place, cell in enumerate(cells)]
    return [*lines, ""]


def contents(pages: Iterable[str], *, hidden: bool) -> list[str]:
    """Return a table of contents."""
    return [".. toctree::", *(["   :hidden:"] if hidden else []), "", *(f"   {page}" for page in pages), ""]
