"""Along a sweep of the number of rounds the longest run serves for all points; that it does is tested, not assumed."""

import numpy as np
import pytest

from fltheory.bounds import catalogue
from fltheory.bounds.claim import Experiments, Sweeps
from fltheory.simulation.engines import simulate
from fltheory.validation import rates, trials
from fltheory.validation.trials import environment, run_at


def swept():
    """Yield every sweep of a horizon in the catalogue, with its source."""
    for entry in catalogue.select(["*"]):
        claim = entry.load()
        for form in claim.forms:
            check = claim.check_of(form)
            if not isinstance(check, Sweeps) or not isinstance(check.instances, Experiments):
                continue
            for number, sweep in enumerate(check.sweeps):
                if check.instances.horizon == sweep.name:
                    yield pytest.param(claim, form, sweep, id=f"{claim.id} {form.variant} {number}")


@pytest.mark.parametrize(("claim", "form", "sweep"), list(swept()))
def test_a_run_that_is_cut_gives_what_a_shorter_one_does(claim, form, sweep):
    source = claim.check_of(form).instances
    first, second, *_ = ({**sweep.base, sweep.name: value} for value in sweep.values)
    own = environment(source, first, seed=0)
    cut = environment(source, first, seed=0, longer=run_at(source, second, seed=0))
    assert own.keys() == cut.keys()
    for name, value in own.items():
        np.testing.assert_allclose(np.asarray(cut[name], float), np.asarray(value, float), rtol=1e-12, err_msg=name)


def test_only_the_longest_run_of_a_sweep_is_made(monkeypatch):
    claim, form, sweep = next(swept()).values
    source = claim.check_of(form).instances
    rounds = []
    monkeypatch.setattr(
        trials, "simulate", lambda experiment, **more: rounds.append(experiment.rounds) or simulate(experiment, **more)
    )
    rates._measure(trials.Trials(claim, form, source, 0), sweep)
    assert rounds == [source.experiment({**sweep.base, sweep.name: sweep.values[-1]}).rounds]
