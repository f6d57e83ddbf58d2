"""The papers whose statements are claims: one folder ``bounds/<tag>/`` each, and one entry here.

Listings, the report, exported documents and figures take order and names of papers from this table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Paper:
    """A paper.

    Parameters
    ----------
    short
        A few words, for headings.
    label
        Fewer words, for legends and titles of panels.
    spoken
        How figures speak of it.
    full
        Authors, title, place and year.
    authors, title
        As BibTeX wants them.
    """

    short: str
    label: str
    spoken: str
    full: str
    authors: str
    title: str


PAPERS: Mapping[str, Paper] = {
    "ruan": Paper(
        short="Ruan et al. (2021)",
        label="Ruan et al.",
        spoken="Ruan et al.",
        full="Ruan, Zhang, Liang, Joe-Wong, Towards flexible device participation in federated learning (AISTATS 2021)",
        authors="Ruan and Zhang and Liang and Joe-Wong",
        title="Towards flexible device participation in federated learning",
    ),
    "efl": Paper(
        short="Ma et al., EFL",
        label="EFL",
        spoken="the EFL papers",
        full="Ma et al., EFL: elastic federated learning on non-IID data (000, long) and Towards heterogeneous clients "
        "with elastic federated learning (003, short)",
        authors="Ma and others",
        title="{EFL}: elastic federated learning on non-{IID} data",
    ),
    "cfl": Paper(
        short="Guo et al. (2021), CFL",
        label="CFL",
        spoken="the CFL paper",
        full="Guo, Lin, Tang, A new analysis framework for federated learning on time-evolving heterogeneous data "
        "(2021)",
        authors="Guo and Lin and Tang",
        title="A new analysis framework for federated learning on time-evolving heterogeneous data",
    ),
    "fen": Paper(
        short="FedElasticNet",
        label="FedElasticNet",
        spoken="the FedElasticNet paper",
        full="Communication-efficient and drift-robust federated learning via elastic net (anonymous submission)",
        authors="{Anonymous}",
        title="Communication-efficient and drift-robust federated learning via elastic net",
    ),
    "li": Paper(
        short="Li et al. (2020)",
        label="Li et al.",
        spoken="Li et al.",
        full="Li, Huang, Yang, Wang, Zhang, On the convergence of FedAvg on non-IID data (ICLR 2020)",
        authors="Li and Huang and Yang and Wang and Zhang",
        title="On the convergence of {FedAvg} on non-{IID} data",
    ),
    "proxskip": Paper(
        short="Mishchenko et al. (2022), ProxSkip",
        label="ProxSkip",
        spoken="the ProxSkip paper",
        full="Mishchenko, Malinovsky, Stich, Richtárik, ProxSkip: Yes! Local gradient steps provably lead to "
        "communication acceleration! Finally! (ICML 2022)",
        authors="Mishchenko and Malinovsky and Stich and Richt{\\'a}rik",
        title="{ProxSkip}: Yes! Local gradient steps provably lead to communication acceleration! Finally!",
    ),
    "fieldguide": Paper(
        short="Wang et al. (2021), field guide",
        label="Field guide",
        spoken="the field guide",
        full="Wang et al., A field guide to federated optimization (2021), section 6.1",
        authors="Wang and others",
        title="A field guide to federated optimization",
    ),
    "scaffold": Paper(
        short="Karimireddy et al. (2020), SCAFFOLD",
        label="SCAFFOLD",
        spoken="the SCAFFOLD paper",
        full="Karimireddy, Kale, Mohri, Reddi, Stich, Suresh, SCAFFOLD: stochastic controlled averaging for federated "
        "learning (ICML 2020)",
        authors="Karimireddy and Kale and Mohri and Reddi and Stich and Suresh",
        title="{SCAFFOLD}: stochastic controlled averaging for federated learning",
    ),
    "koloskova": Paper(
        short="Koloskova et al. (2020)",
        label="Koloskova et al.",
        spoken="Koloskova et al.",
        full="Koloskova, Loizou, Boreiri, Jaggi, Stich, A unified theory of decentralized SGD with changing topology "
        "and local updates (ICML 2020)",
        authors="Koloskova and Loizou and Boreiri and Jaggi and Stich",
        title="A unified theory of decentralized {SGD} with changing topology and local updates",
    ),
    "woodworth": Paper(
        short="Woodworth et al. (2020)",
        label="Woodworth et al.",
        spoken="Woodworth et al.",
        full="Woodworth, Patel, Stich, Dai, Bullins, McMahan, Shamir, Srebro, Is local SGD better than minibatch SGD? "
        "(ICML 2020)",
        authors="Woodworth and Patel and Stich and Dai and Bullins and McMahan and Shamir and Srebro",
        title="Is local {SGD} better than minibatch {SGD}?",
    ),
    "glasgow": Paper(
        short="Glasgow et al. (2022)",
        label="Glasgow et al.",
        spoken="Glasgow et al.",
        full="Glasgow, Yuan, Ma, Sharp bounds for federated averaging (local SGD) and continuous perspective "
        "(AISTATS 2022)",
        authors="Glasgow and Yuan and Ma",
        title="Sharp bounds for federated averaging (local {SGD}) and continuous perspective",
    ),
}
"""All papers by tag, in the order of listings."""


def paper_of(tag: str) -> str:
    """Return the short name of a paper, or the tag of one that is not listed."""
    return PAPERS[tag].short if tag in PAPERS else tag


def labelled(tag: str, reference: str) -> str:
    """Return the name of a statement in legends and titles: the paper, then its number there.

    >>> labelled("ruan", "Theorem 3.1, (3)"), labelled("own", "Lemma 1")
    ('Ruan et al., Theorem 3.1, (3)', 'own, Lemma 1')
    """
    return f"{PAPERS[tag].label if tag in PAPERS else tag}, {reference}"
