"""Checking claims, searching for counterexamples, and evaluating saved ones again."""

from __future__ import annotations

import html
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, overload

from fltheory._internal import arguments
from fltheory._internal.executors import running_on
from fltheory._internal.files import usable
from fltheory.bounds import catalogue
from fltheory.bounds.catalogue import Folders, folders
from fltheory.errors import InvalidParameter
from fltheory.jobs.progress import Progress, Silent, tell_checked
from fltheory.validation import counterexamples
from fltheory.validation import replay as replaying
from fltheory.validation.decide import FULL, QUICK, strengthened
from fltheory.validation.decide import check as check_claim
from fltheory.validation.ledger import Kept, LedgerFolder, ledger
from fltheory.validation.proof import certificate as certificates
from fltheory.validation.proof import store
from fltheory.validation.proof.certificate import Hypotheses
from fltheory.validation.proof.certificate import file_of as file_of_certificate
from fltheory.validation.proof.certificate import save as save_certificate
from fltheory.validation.proof.provers import attempt
from fltheory.validation.proof.provers import replay as replay_certificate
from fltheory.validation.replay import Replayed
from fltheory.validation.runner import check_all
from fltheory.validation.verdict import Checked, Counterexample, Decision, Strength, Verdict


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class Checks(Sequence[Verdict]):
    """Verdicts on claims, in the order of the catalogue; a sequence of :class:`~fltheory.Verdict`.

    Parameters
    ----------
    claims
        Every claim with its verdicts, or with the reason why it could not be evaluated.
    interrupted
        Whether the user stopped it; what was finished is here.
    kept
        What was written, if an output folder was given.
    folder
        That folder.
    """

    claims: tuple[Checked, ...]
    interrupted: bool = False
    kept: Kept | None = field(default=None)
    folder: LedgerFolder | None = field(default=None)

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """All verdicts."""
        return tuple(verdict for checked in self.claims for verdict in checked.verdicts)

    @property
    def broken(self) -> tuple[str, ...]:
        """Ids of claims with a form that must hold and does not."""
        return tuple(checked.entry.id for checked in self.claims if checked.broken and not checked.error)

    @property
    def errors(self) -> Mapping[str, str]:
        """Claims that could not be evaluated, with the reason."""
        return {checked.entry.id: checked.error for checked in self.claims if checked.error}

    @property
    def ok(self) -> bool:
        """Whether everything was evaluated and every form that must hold does."""
        return not any(checked.broken for checked in self.claims)

    def __getitem__(self, place: Any) -> Any:
        return self.verdicts[place]

    def __len__(self) -> int:
        return len(self.verdicts)

    def __iter__(self) -> Iterator[Verdict]:
        return iter(self.verdicts)

    def __repr__(self) -> str:
        return f"Checks({len(self.claims)} claims, {len(self)} verdicts)"

    def __str__(self) -> str:
        width = max((len(f"{v.id} {v.variant}") for v in self), default=0)
        return "\n".join(
            f"{f'{v.id} {v.variant}':{width}}  {v.decision.value}  {v.severity or '-'}  {v.strength.value}  {v.reason}"
            for v in self
        )

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{html.escape(v.id)}</td><td>{html.escape(v.variant)}</td><td>{v.decision.value}</td>"
            f"<td>{v.severity}</td><td>{v.strength.value}</td><td>{'' if v.margin is None else f'{v.margin:.4g}'}</td>"
            f"<td>{html.escape(v.reason)}</td></tr>"
            for v in self
        )
        titles = ("claim", "form", "verdict", "severity", "strength", "margin", "why")
        head = f"<tr>{''.join(f'<th>{title}</th>' for title in titles)}</tr>"
        return f"<table>{head}{rows}</table>"


def check(
    ids: str | Sequence[str] = "*",
    *,
    claims: Folders = (),
    variant: str | None = None,
    quick: bool = False,
    seed: int = 0,
    searches: int = 1,
    jobs: int = 1,
    executor: Executor | None = None,
    fresh: bool = False,
    unaided: bool = False,
    sensitivity: bool = False,
    prove: float = 0.0,
    output: str | Path | None = None,
    progress: Progress | None = None,
) -> Checks:
    """Check claims.

    Parameters
    ----------
    ids
        Ids or patterns such as ``ruan.*``.
    claims
        Folders with claims of your own.
    variant
        One form only.
    quick
        Check fewer instances and shorter sweeps.
    seed, searches
        Seed of the first search, and how many searches there are; one counterexample is enough.
    jobs
        Processes; results do not depend on it.
    executor
        Where to run instead: any :class:`concurrent.futures.Executor`, such as ``client.get_executor()`` of Dask.
    fresh
        Check again what the same code has checked before.
    unaided
        Search without the counterexamples that come with the package, with which every search begins otherwise.
    sensitivity
        Find out for every form that holds which of its terms are necessary, by an instance that fails without the
        term, and which are not, by a certificate. This takes several times as long. The answers are in
        ``verdict.evidence["terms"]``.
    prove
        Seconds of search for a proof of every form that holds and has no certificate yet; none by default.
        Certificates that come with the package are replayed in any case.
    output
        Folder for ledger, counterexamples and new certificates; verdicts are merged into a ledger that is there.
        ``None`` writes nothing.
    progress
        Is called with the progress.

    Returns
    -------
    Checks
        The verdicts, in the order of the catalogue.

    Examples
    --------
    >>> [verdict.decision.value for verdict in check("ruan.eq-68", quick=True)]
    ['HOLDS']
    """
    entries = catalogue.select(ids, folders(claims))
    quick, fresh, unaided, sensitivity = (
        arguments.boolean("check", name, value)
        for name, value in (("quick", quick), ("fresh", fresh), ("unaided", unaided), ("sensitivity", sensitivity))
    )
    folder_of_output = None if output is None else arguments.path("check", "output", output, "folder")
    seed = arguments.integer("check", "seed", seed, low=0)
    searches = arguments.integer("check", "searches", searches, low=1)
    jobs = arguments.integer("check", "jobs", jobs, low=1)
    prove = arguments.real("check", "prove", prove, low=0)
    told = progress or Silent()
    told.expect(len(entries) * searches)
    told.begin("checking")

    def run() -> tuple[list[Checked], bool]:
        with running_on(executor):
            done, interrupted = check_all(
                entries,
                variant=variant,
                effort=replace(QUICK if quick else FULL, unaided=unaided, sensitivity=sensitivity),
                seed=seed,
                searches=searches,
                jobs=jobs,
                fresh=fresh,
                report=lambda checked: tell_checked(told, checked),
            )
        if variant is not None and not interrupted and not any(one.verdicts or one.error for one in done):
            raise InvalidParameter(f"none of the claims has a form {variant!r}; see the forms with: fltheory show ID")
        if prove and not interrupted:
            place = None if folder_of_output is None else folder_of_output / store.FOLDER
            done = [_proved(checked, place, prove) for checked in done]
        return done, interrupted

    name = "quick" if quick else "full"
    if folder_of_output is None:
        done, interrupted = run()
        found = ledger(done, seed=seed, effort=name)
        return Checks(claims=_graded(done, found), interrupted=interrupted)
    with LedgerFolder(folder_of_output) as folder:
        done, interrupted = run()
        kept = folder.keep(done, seed=seed, effort=name, variant=variant)
    return Checks(claims=_graded(done, kept.ledger), interrupted=interrupted, kept=kept, folder=folder)


def _graded(done: Sequence[Checked], found: Mapping[str, Any]) -> tuple[Checked, ...]:
    """Return claims whose verdicts have the severity that a ledger with them gives."""
    forms = {(form["id"], form["variant"]): form["severity"] for entry in found["claims"] for form in entry["forms"]}
    return tuple(
        replace(one, verdicts=tuple(replace(v, severity=forms[v.id, v.variant]) for v in one.verdicts)) for one in done
    )


def _proved(checked: Checked, folder: Path | None, seconds: float) -> Checked:
    """Return a claim whose verdicts rest on certificates where some can be found; they are saved in the folder."""
    if checked.error:
        return checked
    claim = checked.entry.load()
    verdicts = []
    for verdict in checked.verdicts:
        certificate = None
        if verdict.decision is not Decision.VIOLATED and verdict.strength is Strength.SEARCHED:
            form = claim.form(verdict.variant)
            certificate = store.recall(claim, form, *([] if folder is None else [folder]))
            if certificate is None:
                certificate = attempt(claim.id, form, Hypotheses.of(claim, form), seconds=seconds)
                if certificate is not None and folder is not None:
                    save_certificate(certificate, folder / file_of_certificate(claim.id, form.variant))
        verdicts.append(strengthened(verdict, certificate))
    return replace(checked, verdicts=tuple(verdicts))


@dataclass(frozen=True, kw_only=True, slots=True)
class Falsification:
    """What came out of a search for a counterexample.

    Parameters
    ----------
    verdict
        The last verdict; it has the counterexample if there is one.
    instances, searches
        How many instances were evaluated, in how many searches.
    path
        Where the counterexample was saved, if it was.
    """

    verdict: Verdict
    instances: int
    searches: int
    path: Path | None = None

    @property
    def counterexample(self) -> Counterexample | Any:
        """The counterexample, shrunk and confirmed; ``None`` if none was found."""
        return self.verdict.counterexample

    def _repr_html_(self) -> str:
        searched = f"{self.instances} instances, {self.searches} searches"
        shown = self.verdict if self.counterexample is None else self.counterexample
        return f"<div>{shown._repr_html_()}<br>{searched}</div>"


def falsify(
    id: str,
    *,
    budget: float = 30.0,
    variant: str | None = None,
    seed: int = 0,
    claims: Folders = (),
    output: str | Path | None = None,
) -> Falsification:
    """Search for a counterexample until one is found or the time is up.

    Parameters
    ----------
    id, variant
        The claim, and the form to attack; by default its first published one.
    budget
        Seconds.
    seed
        Seed of the first search; later ones take the next numbers.
    claims
        Folders with claims of your own.
    output
        File for the counterexample; a folder gets one named after claim and form. ``None`` writes nothing.

    Returns
    -------
    Falsification
        The verdict, with the counterexample if one was found.

    Examples
    --------
    >>> found = falsify("ruan.eq-71", budget=20)
    >>> found.counterexample.lhs, found.counterexample.rhs
    ('1/2', '1/4')
    """
    entry = catalogue.select_one(id, folders(claims))
    budget = arguments.real("falsify", "budget", budget, low=0, open_low=True)
    seed = arguments.integer("falsify", "seed", seed, low=0)
    claim = entry.load()
    form = claim.forms[0] if variant is None else claim.form(variant)
    path = None if output is None else arguments.path("falsify", "output", output)
    if path is not None:
        path = path / counterexamples.file_of(claim.id, form.variant) if path.suffix != ".json" else path
        usable(path.parent)
    begin, instances, rounds = time.perf_counter(), 0, 0
    while True:
        verdict = check_claim(claim, variant=form.variant, effort=replace(FULL, unaided=True), seed=seed + rounds)[0]
        instances, rounds = instances + verdict.instances, rounds + 1
        if verdict.counterexample is not None or time.perf_counter() - begin >= budget:
            break
    if verdict.counterexample is not None and path is not None:
        counterexamples.save(verdict.counterexample, path)
    saved = path if verdict.counterexample is not None else None
    return Falsification(verdict=verdict, instances=instances, searches=rounds, path=saved)


@dataclass(frozen=True, kw_only=True, slots=True)
class ReplayedCertificate:
    """What a stored certificate proves now.

    Parameters
    ----------
    id, variant
        Which form of which claim.
    strength, covers, method
        What the certificate says: proved or certified, for which values, by which means.
    refused
        Why it proves nothing; empty if it does.
    """

    id: str
    variant: str
    strength: str
    covers: str
    method: str
    refused: str

    def as_json(self) -> dict[str, Any]:
        """Return the object that `replay --json` prints."""
        return {name: getattr(self, name) for name in self.__slots__}


@overload
def replay(counterexample: Counterexample, *, claims: Folders = ()) -> Replayed: ...


@overload
def replay(counterexample: str | Path, *, claims: Folders = ()) -> Replayed | ReplayedCertificate: ...


def replay(counterexample: str | Path | Counterexample, *, claims: Folders = ()) -> Replayed | ReplayedCertificate:
    """Evaluate a counterexample again, from its file or from the object alone, or check the file of a certificate.

    Nothing is searched. Products of hypotheses are expanded in exact arithmetic, and solvers are asked again.

    Parameters
    ----------
    counterexample
        A counterexample, its file, or the file of a certificate.
    claims
        Folders with claims of your own.

    Returns
    -------
    Replayed or ReplayedCertificate
        Both sides of the statement on the counterexample, or whether the certificate proves what it says.

    Examples
    --------
    >>> found = falsify("ruan.eq-71", budget=20)
    >>> replay(found.counterexample).violated
    True
    """
    known = catalogue.index(folders(claims))
    if isinstance(counterexample, Counterexample):
        return replaying.replay(counterexample.as_json(), known, where="the counterexample")
    file = arguments.path("replay", "counterexample", counterexample, "file")
    if certificates.is_certificate(file):
        stored = certificates.load(file)
        if stored.id not in known:
            raise InvalidParameter(
                f"{file}: claim {stored.id!r} is not known; name the folder it is stated in with --claims"
            )
        claim = known[stored.id].load()
        form = claim.form(stored.variant)
        return ReplayedCertificate(
            id=stored.id,
            variant=stored.variant,
            strength=stored.strength.value,
            covers=stored.words,
            method=stored.method,
            refused=replay_certificate(stored, form, Hypotheses.of(claim, form)),
        )
    return replaying.replay(counterexamples.load(file), known, where=str(file))
