"""Laws of all splits: nothing is dealt twice, sizes and classes are as asked, and the same seed deals the same."""

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from fltheory.datasets.sizes import Equal, Lognormal, Pareto, SizeLaw
from fltheory.datasets.splits import ClassesPerClient, Dirichlet, Iid, Natural, Split
from fltheory.errors import InvalidParameter

LABELS = st.lists(st.integers(0, 4), min_size=6, max_size=80).map(np.array)
SEEDS = st.integers(0, 100)
SIZES = st.sampled_from([Equal(), Equal(size=1), Lognormal(spread=0.0), Lognormal(spread=2.0, size=1)])
SPLITS = st.one_of(
    st.builds(Iid, sizes=SIZES),
    st.builds(Dirichlet, concentration=st.sampled_from([1e-3, 0.3, 100.0]), sizes=SIZES),
    st.builds(ClassesPerClient, classes=st.just(1), sizes=st.sampled_from([None, Equal(size=1)])),
    st.just(Natural()),
)


def deal(split: Split, labels: Any, num_clients: int, seed: int) -> tuple[Any, ...]:
    """Deal, with the samples numbered 0, 1, 2, 0, 1, 2, ... as owners."""
    return split.deal(labels, num_clients, owners=np.arange(len(labels)) % 3, seed=seed)


def class_counts(labels: Any, parts: tuple[Any, ...]) -> Any:
    return np.array([np.bincount(labels[part], minlength=labels.max() + 1) for part in parts])


@settings(deadline=None)
@given(split=SPLITS, labels=LABELS, num_clients=st.integers(1, 3), seed=SEEDS)
def test_no_sample_is_dealt_twice_and_nobody_gets_none(split: Split, labels: Any, num_clients: int, seed: int) -> None:
    try:
        parts = deal(split, labels, num_clients, seed)
    except InvalidParameter:
        assume(False)
    dealt = np.concatenate(parts)
    assert len(parts) == num_clients
    assert len(np.unique(dealt)) == len(dealt)
    assert dealt.min() >= 0
    assert dealt.max() < len(labels)
    for part in parts:
        assert len(part) > 0
        assert np.all(np.diff(part) > 0)
        assert part.dtype == np.int64
        assert not part.flags.writeable


@settings(deadline=None, max_examples=30)
@given(split=SPLITS, seed=SEEDS)
def test_a_seed_deals_the_same_again_and_another_does_not(split: Split, seed: int) -> None:
    labels = np.arange(120) % 5
    owners = np.arange(120) % 30
    first, again = (split.deal(labels, 4, owners=owners, seed=seed) for _ in range(2))
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    others = [split.deal(labels, 4, owners=owners, seed=seed + shift) for shift in (1, 2, 3)]
    assert any(not np.array_equal(a, b) for other in others for a, b in zip(first, other, strict=True))


@settings(deadline=None)
@given(
    kind=st.sampled_from([Iid, lambda sizes: Dirichlet(concentration=0.3, sizes=sizes)]),
    labels=LABELS,
    num_clients=st.integers(1, 5),
    spread=st.sampled_from([0.0, 0.5, 2.0]),
    seed=SEEDS,
)
def test_sizes_that_share_out_use_every_sample(
    kind: Any, labels: Any, num_clients: int, spread: float, seed: int
) -> None:
    for sizes in (Equal(), Lognormal(spread=spread)):
        counts = [len(part) for part in kind(sizes=sizes).deal(labels, num_clients, seed=seed)]
        assert sum(counts) == len(labels)
        if not isinstance(sizes, Lognormal) or spread == 0.0:
            assert max(counts) - min(counts) <= 1


@given(num_clients=st.integers(1, 30), size=st.integers(1, 20), seed=SEEDS)
def test_sizes_are_as_asked(num_clients: int, size: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    assert Equal(size=size).draw(rng, num_clients, size * num_clients).tolist() == [size] * num_clients
    drawn = Lognormal(spread=1.0, size=size).draw(rng, num_clients, 10**6)
    assert drawn.sum() == size * num_clients
    assert drawn.min() >= 1
    pareto = Pareto(min_size=size, max_size=50 * size).draw(rng, num_clients, 10**6)
    assert pareto.min() >= size
    assert pareto.max() <= 50 * size


def test_lognormal_sizes_spread_as_asked() -> None:
    """Standard deviation of 4,000 logarithms: 6 standard errors are 0.067; rounding moves it by less."""
    drawn = Lognormal(spread=1.0).draw(np.random.default_rng(0), 4_000, 40_000_000)
    assert abs(np.log(drawn).std() - 1.0) < 0.08


def test_pareto_sizes_have_index_one_half() -> None:
    """P(size >= 4 m) = 1/2 and P(size >= 16 m) = 1/4; 20,000 draws, bound 5.2 standard deviations (1e-6)."""
    drawn = Pareto(min_size=10, max_size=5_000).draw(np.random.default_rng(0), 20_000, 10**9)
    for factor, chance in ((4, 0.5), (16, 0.25)):
        assert abs((drawn >= factor * 10).mean() - chance) < 5.2 * np.sqrt(chance * (1 - chance) / 20_000)


@settings(deadline=None)
@given(
    supply=st.lists(st.integers(20, 40), min_size=2, max_size=8),
    classes=st.integers(1, 8),
    num_clients=st.integers(1, 12),
    seed=SEEDS,
)
def test_clients_hold_exactly_so_many_classes(supply: list[int], classes: int, num_clients: int, seed: int) -> None:
    assume(classes <= len(supply))
    labels = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(supply)), supply))
    counts = class_counts(labels, ClassesPerClient(classes=classes).deal(labels, num_clients, seed=seed))
    assert np.all((counts > 0).sum(axis=1) == classes)
    holders = (counts > 0).sum(axis=0)
    assert holders.max() - holders.min() <= 1
    for column, total in zip(counts.T, supply, strict=True):
        held = column[column > 0]
        assert held.size == 0 or (held.sum() == total and held.max() - held.min() <= 1)


@settings(deadline=None)
@given(
    classes=st.integers(1, 5),
    num_clients=st.integers(1, 10),
    sizes=st.sampled_from([Equal(size=12), Lognormal(spread=0.4, size=12)]),
    seed=SEEDS,
)
def test_sized_clients_hold_exactly_so_many_classes(classes: int, num_clients: int, sizes: SizeLaw, seed: int) -> None:
    labels = np.random.default_rng(seed).permutation(np.repeat(np.arange(6), 60))
    try:
        parts = ClassesPerClient(classes=classes, sizes=sizes).deal(labels, num_clients, seed=seed)
    except InvalidParameter:
        assume(False)
    counts = class_counts(labels, parts)
    assert np.all((counts > 0).sum(axis=1) == classes)
    assert counts.sum() == 12 * num_clients
    if isinstance(sizes, Equal):
        assert np.all(counts.sum(axis=1) == 12)


def test_sized_clients_take_equal_parts_of_their_classes() -> None:
    labels = np.repeat(np.arange(10), 100)
    counts = class_counts(labels, ClassesPerClient(classes=3, sizes=Equal(size=20)).deal(labels, 10, seed=0))
    for row in counts:
        assert sorted(row[row > 0].tolist()) == [6, 7, 7]
    assert counts.sum(axis=0).min() >= 18  # three holders each: the classes of which most is left are taken


def test_a_scarce_class_gives_what_it_has() -> None:
    labels = np.repeat(np.arange(2), [3, 30])
    (part,) = ClassesPerClient(classes=2, sizes=Equal(size=20)).deal(labels, 1, seed=0)
    assert np.bincount(labels[part]).tolist() == [3, 17]


@settings(deadline=None)
@given(
    owners=st.lists(st.integers(0, 6), min_size=10, max_size=60).map(np.array),
    num_clients=st.integers(1, 4),
    min_size=st.integers(1, 3),
    seed=SEEDS,
)
def test_natural_clients_are_owners(owners: Any, num_clients: int, min_size: int, seed: int) -> None:
    labels = np.zeros(len(owners), dtype=np.int64)
    counts = np.bincount(owners)
    assume(num_clients <= np.count_nonzero(counts >= min_size))
    parts = Natural(min_size=min_size).deal(labels, num_clients, owners=owners, seed=seed)
    found = [np.unique(owners[part]).tolist() for part in parts]
    assert all(len(names) == 1 for names in found)
    assert found == sorted(found)
    assert [len(part) for part in parts] == [counts[names[0]] for names in found]
    assert min(len(part) for part in parts) >= min_size
    for part, cropped in zip(
        parts,
        Natural(min_size=min_size, max_size=3).deal(labels, num_clients, owners=owners, seed=seed),
        strict=True,
    ):
        own = part.tolist()
        assert cropped.tolist() in [own[at : at + 3] for at in range(max(len(own) - 2, 1))]


def test_stretches_of_natural_clients_start_anywhere() -> None:
    """Ten samples, stretches of eight: starts 0, 1, 2; none of 40 seeds giving one of them has probability 3e-7."""
    owners = np.zeros(10, dtype=np.int64)
    starts = {int(Natural(max_size=8).deal(owners, 1, owners=owners, seed=seed)[0][0]) for seed in range(40)}
    assert starts == {0, 1, 2}


def test_concentration_sets_how_mixed_the_clients_are() -> None:
    labels = np.repeat(np.arange(5), 200)

    def largest_share(concentration: float) -> float:
        parts = Dirichlet(concentration=concentration).deal(labels, 10, seed=0)
        return float(np.mean([np.bincount(labels[part], minlength=5).max() / len(part) for part in parts]))

    # Every sample is dealt, so that even tiny concentrations end with leftovers of other classes.
    assert largest_share(0.01) > 0.5
    assert largest_share(1000.0) < 0.35


FEW = [0, 1, 1, 2]


@pytest.mark.parametrize(
    ("split", "labels", "num_clients", "message"),
    [
        (Iid(), [0.5, 1.0], 1, r"Iid\.labels must be a vector of integers >= 0"),
        (Iid(), [-1, 1], 1, r"Iid\.labels"),
        (Dirichlet(concentration=1.0), FEW, 5, r"Dirichlet\.num_clients must be an integer in \[1, 4\]"),
        (Iid(sizes=Equal(size=3)), FEW, 2, r"Equal\.size must be at most 2 for 2 clients and 4 samples"),
        (Iid(sizes=Lognormal(spread=1.0, size=3)), FEW, 2, r"Lognormal\.size must be at most 2"),
        (Iid(sizes=Pareto(min_size=3, max_size=9)), FEW, 2, r"Pareto\.max_size must leave enough samples"),
        (ClassesPerClient(classes=4), FEW, 1, r"ClassesPerClient\.classes must be at most the number of classes, 3"),
        (ClassesPerClient(classes=3), FEW, 2, "a class with 1 samples would have 2 clients"),
        (ClassesPerClient(classes=2, sizes=Equal(size=1)), FEW, 1, r"ClassesPerClient\.sizes must leave every client"),
        (ClassesPerClient(classes=1, sizes=Equal(size=2)), FEW, 2, r"got a client of size 2 when 1 are left"),
        (
            ClassesPerClient(classes=2, sizes=Equal(size=2)),
            [0, 0, 0, 0, 0, 1],
            2,
            r"samples of 2 classes, got a client",
        ),
        (Natural(min_size=2), FEW, 2, r"Natural\.num_clients must be at most 1, the number of owners with 2 samples"),
    ],
)
def test_what_is_impossible_is_refused(split: Split, labels: Any, num_clients: int, message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        split.deal(labels, num_clients, owners=[0, 1, 1, 2, 2, 2][: len(labels)], seed=0)


def test_natural_clients_need_owners() -> None:
    with pytest.raises(InvalidParameter, match=r"Natural\.owners must be given, got none"):
        Natural().deal(FEW, 1, seed=0)
    with pytest.raises(InvalidParameter, match=r"Natural\.owners must be a vector of 4 integers"):
        Natural().deal(FEW, 1, owners=[0, 1], seed=0)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Dirichlet(concentration=0.0), r"Dirichlet\.concentration"),
        (lambda: ClassesPerClient(classes=0), r"ClassesPerClient\.classes"),
        (lambda: Natural(min_size=0), r"Natural\.min_size"),
        (lambda: Natural(min_size=5, max_size=4), r"Natural\.max_size"),
        (lambda: Equal(size=0), r"Equal\.size"),
        (lambda: Lognormal(spread=-1.0), r"Lognormal\.spread"),
        (lambda: Lognormal(spread=1.0, size=0), r"Lognormal\.size"),
        (lambda: Pareto(min_size=0, max_size=4), r"Pareto\.min_size"),
        (lambda: Pareto(min_size=5, max_size=4), r"Pareto\.max_size"),
    ],
)
def test_bad_parameters_are_named(make: Any, message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        make()
