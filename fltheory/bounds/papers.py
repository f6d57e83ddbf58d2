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
    spoken
        How figures speak of it.
    full
        Authors, title, place and year.
    authors, title
        As BibTeX wants them.
    """

    short: str
    spoken: str
    full: str
    authors: str
    title: str


PAPERS: Mapping[str, Paper] = {
    "ruan": Paper(
        short="Ruan et al. (2021)",
        spoken="Ruan et al.",
        full="Ruan, Zhang, Liang, Joe-Wong, Towards flexible device participation in federated learning (AISTATS 2021)",
        authors="Ruan and Zhang and Liang and Joe-Wong",
        title="Towards flexible device participation in federated learning",
    ),
    "efl": Paper(
        short="Ma et al., EFL",
        spoken="the EFL papers",
        full="Ma et al., EFL: elastic federated learning on non-IID data (000, long) and Towards heterogeneous clients "
        "with elastic federated learning (003, short)",
        authors="Ma and others",
        title="{EFL}: elastic federated learning on non-{IID} data",
    ),
    "cfl": Paper(
        short="Guo et al. (2021), CFL",
        spoken="the CFL paper",
        full="Guo, Lin, Tang, A new analysis framework for federated learning on time-evolving heterogeneous data "
        "(2021)",
        authors="Guo and Lin and Tang",
        title="A new analysis framework for federated learning on time-evolving heterogeneous data",
    ),
    "fen": Paper(
        short="FedElasticNet",
        spoken="the FedElasticNet paper",
        full="Communication-efficient and drift-robust federated learning via elastic net (anonymous submission)",
        authors="{Anonymous}",
        title="Communication-efficient and drift-robust federated learning via elastic net",
    ),
    "li": Paper(
        short="Li et al. (2020)",
        spoken="Li et al.",
        full="Li, Huang, Yang, Wang, Zhang, On the convergence of FedAvg on non-IID data (ICLR 2020)",
        authors="Li and Huang and Yang and Wang and Zhang",
        title="On the convergence of {FedAvg} on non-{IID} data",
    ),
    "proxskip": Paper(
        short="Mishchenko et al. (2022), ProxSkip",
        spoken="the ProxSkip paper",
        full="Mishchenko, Malinovsky, Stich, Richtárik, ProxSkip: Yes! Local gradient steps provably lead to "
        "communication acceleration! Finally! (ICML 2022)",
        authors="Mishchenko and Malinovsky and Stich and Richt{\\'a}rik",
        title="{ProxSkip}: Yes! Local gradient steps provably lead to communication acceleration! Finally!",
    ),
    "fieldguide": Paper(
        short="Wang et al. (2021), field guide",
        spoken="the field guide",
        full="Wang et al., A field guide to federated optimization (2021), section 6.1",
        authors="Wang and others",
        title="A field guide to federated optimization",
    ),
    "scaffold": Paper(
        short="Karimireddy et al. (2020), SCAFFOLD",
        spoken="the SCAFFOLD paper",
        full="Karimireddy, Kale, Mohri, Reddi, Stich, Suresh, SCAFFOLD: stochastic controlled averaging for federated "
        "learning (ICML 2020)",
        authors="Karimireddy and Kale and Mohri and Reddi and Stich and Suresh",
        title="{SCAFFOLD}: stochastic controlled averaging for federated learning",
    ),
    "koloskova": Paper(
        short="Koloskova et al. (2020)",
        spoken="Koloskova et al.",
        full="Koloskova, Loizou, Boreiri, Jaggi, Stich, A unified theory of decentralized SGD with changing topology "
        "and local updates (ICML 2020)",
        authors="Koloskova and Loizou and Boreiri and Jaggi and Stich",
        title="A unified theory of decentralized {SGD} with changing topology and local updates",
    ),
}
"""All papers by tag, in the order of listings."""
