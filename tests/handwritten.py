"""Federated algorithms written by hand, one client after the other, with mistakes that can be switched on.

They share no code with the package: plain loops over rounds, clients and steps, as in the papers' pseudo-code.
``bug`` names the mistake in the words of the catalogue; the empty string is the algorithm itself.
"""

from __future__ import annotations

import numpy as np


def shares(f, participants, bug=""):
    """Return the weights of the participants in the server's mean."""
    if bug == "uniform":
        return {i: 1 / len(participants) for i in participants}
    if bug == "fixed-weights":
        return {i: f.sample_counts[i] / f.sample_counts.sum() for i in participants}
    if bug == "unbiased-weights":
        return {i: f.weights[i] * f.num_clients / len(participants) for i in participants}
    total = sum(f.sample_counts[i] for i in participants)
    return {i: f.sample_counts[i] / total for i in participants}


def local_sgd(f, t, i, w, *, prox=0.0, steps=None):
    y = w.copy()
    for _ in range(f.steps[t, i] if steps is None else steps):
        y = y - f.rates[t] * (f.gradient(i, y, f.rng) + prox * (y - w))
    return y


def fedavg(f, bug=""):
    w, models = f.start, []
    last = dict.fromkeys(range(f.num_clients), f.start)
    for t, participants in enumerate(f.participants):
        if bug == "complete-clients-only":
            participants = [i for i in participants if f.steps[t, i] == f.local_steps]
        if bug == "everybody-works":
            participants = range(f.num_clients)
        omega = shares(f, participants, bug)
        if bug == "weights-by-work":
            done = {i: f.sample_counts[i] * f.steps[t, i] for i in participants}
            omega = {i: done[i] / sum(done.values()) for i in participants}
        ends, current = {}, w
        for i in participants:
            steps = f.steps[t, i] if i in f.participants[t] else f.local_steps
            steps += {"one-step-short": -1, "one-step-more": 1}.get(bug, 0)
            if bug == "assigned-steps":
                steps = f.local_steps
            y = {"one-model-for-all": current, "not-downloaded": last[i]}.get(bug, w).copy()
            total = np.zeros(f.dim)
            for _ in range(steps):
                g = f.gradient(i, w if bug == "gradient-at-server-model" else y, f.rng)
                total = total + g
                g = {"ascent": -g, "gradients-never-cleared": total}.get(bug, g)
                y = y - f.rates[0 if bug == "first-rate" else t] * g
            ends[i] = last[i] = current = y
        mean = sum((omega[i] * ends[i] for i in participants), np.zeros(f.dim))
        if bug == "stale-models":
            mean = sum(f.weights[i] * last[i] for i in range(f.num_clients))
        elif bug == "weights-of-all":
            mean = sum(f.weights[i] * ends[i] for i in participants)
        elif bug in ("fixed-weights", "unbiased-weights", "complete-clients-only"):
            mean = w + sum((omega[i] * (ends[i] - w) for i in participants), np.zeros(f.dim))
        if bug == "server-rate-ignored":
            w = mean
        elif bug == "server-rate-on-the-model":
            w = f.server_rate * mean
        else:
            w = w + f.server_rate * (mean - w)
        models.append(w)
    return models


def fedprox(f, bug=""):
    rho, w, models = f.parameters["prox"], f.start, []
    for t, participants in enumerate(f.participants):
        omega = shares(f, participants, bug)
        moved = np.zeros(f.dim)
        for i in participants:
            y = w.copy()
            for k in range(f.steps[t, i]):
                g, away = f.gradient(i, y), y - w
                pull = {
                    "norm-without-square": rho / 2 * away / (np.linalg.norm(away) or 1.0),
                    "no-proximal-term": 0.0,
                    "quadratic-part-overwritten": -rho * w,
                    "no-half": 2 * rho * away,
                    "half-twice": rho / 2 * away,
                    "pull-to-zero": rho * y,
                    "push-away": -rho * away,
                    "anchor-of-round-0": rho * (y - f.start),
                }.get(bug, rho * away)
                if bug == "data-gradient-lost" and k > 0:
                    g = 0.0
                y = y - f.rates[t] * (g + pull)
            moved = moved + omega[i] * (y - w)
        w = w + f.server_rate * moved
        models.append(w)
    return models


def scaffold(f, bug="", *, states=False):
    w, models, kept = f.start, [], {"c": [], "c_i": [], "local": []}
    c, clients = np.zeros(f.dim), range(f.num_clients)
    c_i = {i: f.gradient(i, w) if bug == "variates-start-at-gradients" else np.zeros(f.dim) for i in clients}
    if bug == "variates-start-at-gradients":
        c = sum(f.weights[i] * c_i[i] for i in clients)
    if bug == "variates-start-at-the-model":
        c_i = {i: w.copy() for i in clients}
    for t, participants in enumerate(f.participants):
        eta = f.rates[t]
        omega = shares(f, participants, bug)
        p = {i: 1 / f.num_clients if bug in ("uniform", "uniform-memory") else f.weights[i] for i in clients}
        ends, new = dict.fromkeys(clients, w), dict(c_i)
        workers = clients if bug == "variates-of-the-absent" else participants
        for i in workers:
            steps = f.steps[t, i] or f.local_steps
            y = w.copy()
            for k in range(steps):
                correction = {
                    "correction-reversed": c_i[i] - c,
                    "server-variate-missing": -c_i[i],
                    "client-variate-missing": c,
                    "no-correction": 0 * c,
                    "corrected-once": c - c_i[i] if k == 0 else 0 * c,
                }.get(bug, c - c_i[i])
                y = y - eta * (f.gradient(i, y, f.rng) + correction)
            ends[i] = y
            path = (w - y) / (steps * eta)
            new[i] = {
                "option-I": f.gradient(i, w),
                "variates-divided-by-one": c_i[i] - c + (w - y) / eta,
                "variates-divided-by-assigned-steps": c_i[i] - c + (w - y) / (f.local_steps * eta),
                "variates-without-rate": c_i[i] - c + (w - y) / steps,
                "old-variate-dropped": -c + path,
                "server-variate-not-subtracted": c_i[i] + path,
                "path-only": path,
                "option-I-at-the-local-model": f.gradient(i, y),
            }.get(bug, c_i[i] - c + path)
        after = w + f.server_rate * sum(omega[i] * (ends[i] - w) for i in participants)
        if bug == "variates-from-the-new-server-model":
            for i in participants:
                new[i] = c_i[i] - c + (w - after) / (f.steps[t, i] * eta)
        change = {i: new[i] - c_i[i] for i in clients}
        renewed = c + sum(p[i] * change[i] for i in clients)
        if bug == "variates-from-the-new-mean":
            for i in participants:
                new[i] = new[i] + c - renewed
            renewed = c + sum(p[i] * (new[i] - c_i[i]) for i in clients)
        elif bug == "server-variate-over-participants":
            renewed = c + sum(omega[i] * change[i] for i in participants)
        elif bug == "server-variate-replaced":
            renewed = sum(omega[i] * new[i] for i in participants)
        elif bug == "whole-variates-added":
            renewed = c + sum(p[i] * new[i] for i in participants)
        elif bug == "server-variate-never-updated":
            renewed = c
        elif bug == "server-variate-summed":
            renewed = c + f.num_clients * sum(p[i] * change[i] for i in clients)
        w, c, c_i = after, renewed, new
        models.append(w)
        kept["c"].append(c)
        kept["c_i"].append([c_i[i] for i in clients])
        kept["local"].append([ends[i] for i in clients])
    return {"models": models, **kept} if states else models


def feddyn(f, bug=""):
    alpha, w, models = f.parameters["alpha"], f.start, []
    h, clients = np.zeros(f.dim), range(f.num_clients)
    h_i = {i: np.zeros(f.dim) for i in clients}
    for t, participants in enumerate(f.participants):
        omega = shares(f, participants, bug)
        p = {i: 1 / f.num_clients if bug == "uniform" else f.weights[i] for i in clients}
        ends = {}
        for i in clients if bug == "memory-of-the-absent" else participants:
            y = w.copy()
            for _ in range(f.steps[t, i] or f.local_steps):
                away = y - w
                linear = {
                    "linear-term-missing": 0.0,
                    "penalty-without-gradient": 0.0,
                    "linear-term-reversed": h_i[i],
                }.get(bug, -h_i[i])
                pull = {
                    "norm-without-square": alpha / 2 * away / (np.linalg.norm(away) or 1.0),
                    "pull-missing": 0.0,
                    "penalty-without-gradient": 0.0,
                    "pull-without-half": 2 * alpha * away,
                }.get(bug, alpha * away)
                y = y - f.rates[t] * (f.gradient(i, y) + linear + pull)
            ends[i] = y
        for i, y in ends.items():
            h_i[i] = {
                "client-memory-forgets": -alpha * (y - w),
                "client-memory-unscaled": h_i[i] - (y - w),
            }.get(bug, h_i[i] - alpha * (y - w))
        old = h
        h = h - alpha * sum(p[i] * (y - w) for i, y in ends.items())
        if bug == "memory-over-participants":
            h = old - alpha * sum(omega[i] * (ends[i] - w) for i in participants)
        elif bug == "old-model-subtracted-once":
            h = old - alpha / f.num_clients * (sum(ends[i] for i in participants) - w)
        elif bug == "server-memory-forgets":
            h = h - old
        subtracted = {
            "server-memory-late": old / alpha,
            "server-memory-unused": 0.0,
            "server-memory-added": -h / alpha,
            "server-memory-undivided": h,
        }.get(bug, h / alpha)
        w = sum(omega[i] * ends[i] for i in participants) - subtracted
        models.append(w)
    return models


def fednova(f, bug=""):
    rho, w, models = f.parameters["prox"], f.start, []
    for t, participants in enumerate(f.participants):
        eta, omega = f.rates[t], shares(f, participants, bug)
        steps = {i: f.steps[t, i] for i in participants}
        norm = {i: sum((1 - eta * rho) ** k for k in range(steps[i])) for i in participants}
        if bug == "work-counted-in-steps":
            norm = steps
        if bug == "not-normalised":
            norm = dict.fromkeys(participants, 1)
        scale = f.num_clients / len(participants) if bug == "scaled-twice" else 1.0
        if bug == "scaled-twice":
            omega = dict.fromkeys(participants, 1 / len(participants))
        effective = {
            "effective-steps-from-counts": sum(omega[i] * steps[i] for i in participants),
            "no-effective-steps": 1,
            "effective-steps-assigned": f.local_steps,
            "effective-steps-unweighted": sum(norm.values()) / len(norm),
            "effective-steps-largest": max(norm.values()),
        }.get(bug, sum(omega[i] * norm[i] for i in participants))
        ends = {i: local_sgd(f, t, i, w, prox=rho) for i in participants}
        if bug == "models-normalised":
            w = effective * sum(omega[i] * ends[i] / norm[i] for i in participants)
        else:
            w = w + scale * effective * sum(omega[i] * (ends[i] - w) / norm[i] for i in participants)
        models.append(w)
    return models


def mime(f, bug="", *, lite=False):
    beta, w, models = f.parameters["momentum"], f.start, []
    m = np.zeros(f.dim)
    for t, participants in enumerate(f.participants):
        omega = shares(f, participants)
        mean = sum(omega[i] * f.gradient(i, w) for i in participants)
        if bug == "gradients-of-the-absent":
            mean = sum(f.weights[i] * f.gradient(i, w) for i in range(f.num_clients))
        damping = 1.0 if bug == "heavy-ball" else 1 - beta
        used = (1 - beta) * mean + beta * m if bug == "momentum-updated-first" else m
        ends = {}
        for i in participants:
            y = w.copy()
            for _ in range(f.steps[t, i]):
                g = f.gradient(i, y)
                if (not lite and bug != "no-correction") or bug == "corrected":
                    g = g - f.gradient(i, w) + mean
                y = y - f.rates[t] * (damping * g + beta * used)
            ends[i] = y
        seen = sum(omega[i] * f.gradient(i, ends[i]) for i in participants)
        m = {
            "heavy-ball": mean + beta * m,
            "statistics-undamped": mean + beta * m,
            "statistics-from-the-path": (1 - beta) * seen + beta * m,
            "momentum-never-updated": m,
        }.get(bug, (1 - beta) * mean + beta * m)
        w = w + f.server_rate * sum(omega[i] * (ends[i] - w) for i in participants)
        models.append(w)
    return models


def mimelite(f, bug=""):
    return mime(f, bug, lite=True)


def fedgate(f, bug="", *, vrl=False):
    w, models = f.start, []
    delta = {i: np.zeros(f.dim) for i in range(f.num_clients)}
    gamma = 1.0 if vrl else f.server_rate
    for t, participants in enumerate(f.participants):
        omega = shares(f, participants)
        ends, u = {}, {}
        for i in participants:
            y = w.copy()
            for _ in range(f.steps[t, i]):
                y = y - f.rates[t] * (f.gradient(i, y) - (-1 if bug == "correction-reversed" else 1) * delta[i])
            ends[i] = y
            divisor = {"not-divided-by-steps": 1, "divided-by-assigned-steps": f.local_steps}.get(bug, f.steps[t, i])
            u[i] = (w - y) / (divisor * f.rates[t])
        mean = sum(omega[i] * u[i] for i in participants)
        if bug == "mean-over-all":
            mean = sum(f.weights[i] * u[i] for i in participants)
        if bug == "mean-scaled-by-server-rate":
            mean = gamma * mean
        for i in participants:
            old = 0.0 if bug == "corrections-forget" else delta[i]
            delta[i] = old + u[i] - (0.0 if bug == "mean-not-subtracted" else mean)
        if bug == "absent-clients-too":
            for i in set(range(f.num_clients)) - set(participants):
                delta[i] = delta[i] - mean
        w = w + gamma * sum(omega[i] * (ends[i] - w) for i in participants)
        models.append(w)
    return models


def vrl_sgd(f, bug=""):
    return fedgate(f, bug, vrl=True)


def fedavgm(f, bug=""):
    beta, w, m, models = f.parameters["momentum"], f.start, np.zeros(f.dim), []
    for t, participants in enumerate(f.participants):
        omega = shares(f, participants)
        mean = sum(omega[i] * (local_sgd(f, t, i, w) - w) for i in participants)
        m = {
            "damped": beta * m + (1 - beta) * mean,
            "no-momentum": mean,
            "momentum-reversed": mean - beta * m,
        }.get(bug, beta * m + mean)
        step = {
            "nesterov": f.server_rate * (mean + beta * m),
            "momentum-on-top": mean + f.server_rate * m,
        }.get(bug, f.server_rate * m)
        w = w + step
        models.append(w)
    return models


def fedopt(f, bug=""):
    a, w, m, models = f.parameters, f.start, np.zeros(f.dim), []
    v = np.full(f.dim, 0.0 if bug == "second-moment-starts-at-zero" else a["tau"] ** 2)
    for t, participants in enumerate(f.participants):
        omega = shares(f, participants)
        moved = {i: local_sgd(f, t, i, w) - w for i in participants}
        mean = sum(omega[i] * moved[i] for i in participants)
        if bug == "server-rate-twice":
            mean = f.server_rate * mean
        squares = mean**2
        if bug == "mean-of-squares":
            squares = sum(omega[i] * moved[i] ** 2 for i in participants)
        m = a["beta_1"] * m + (1 if bug == "first-moment-undamped" else 1 - a["beta_1"]) * mean
        if a["rule"] == "adam":
            v = a["beta_2"] * v + (1 - a["beta_2"]) * squares
        elif a["rule"] == "adagrad":
            v = v + squares
        else:
            v = v - (1 - a["beta_2"]) * squares * np.sign(v - squares)
        rate = f.server_rate
        first = {"bias-corrected": 1, "bias-correction-one-round-late": 2, "bias-correction-one-round-early": 0}
        if bug in first and t + first[bug] > 0:
            k = t + first[bug]
            rate = rate * np.sqrt(1 - a["beta_2"] ** k) / (1 - a["beta_1"] ** k)
        root = {"no-root": v + a["tau"], "tau-inside-the-root": np.sqrt(v + a["tau"] ** 2)}
        w = w + rate * m / root.get(bug, np.sqrt(v) + a["tau"])
        models.append(w)
    return models


def minibatch_sgd(f, bug=""):
    w, models = f.start, []
    for t, participants in enumerate(f.participants):
        omega = shares(f, participants)
        step = np.zeros(f.dim)
        for i in participants:
            gradients = [f.gradient(i, w, f.rng) for _ in range(f.steps[t, i])]
            mean = sum(gradients) / (1 if bug == "summed" else len(gradients))
            if bug == "moving":
                mean = (w - local_sgd(f, t, i, w)) / (f.rates[t] * f.steps[t, i])
            step = step + omega[i] * mean
        w = w - f.server_rate * f.rates[t] * step
        models.append(w)
    return models


def signsgd(f, bug=""):
    beta, w, models = f.parameters["momentum"], f.start, []
    m = {i: np.zeros(f.dim) for i in range(f.num_clients)}
    for t, participants in enumerate(f.participants):
        omega = shares(f, participants)
        for i in participants:
            m[i] = beta * m[i] + (1 - beta) * f.gradient(i, w)
        votes = sum(np.sign(m[i]) for i in participants)
        direction = {
            "weighted-vote": np.sign(sum(omega[i] * np.sign(m[i]) for i in participants)),
            "sign-of-the-mean": np.sign(sum(omega[i] * m[i] for i in participants)),
            "mean-of-the-signs": votes / len(participants),
            "absent-clients-vote": np.sign(sum(np.sign(m[i]) for i in range(f.num_clients))),
        }.get(bug, np.sign(votes))
        w = w - f.rates[t] * direction
        models.append(w)
    return models


def pfedme(f, bug=""):
    a, w, models = f.parameters, f.start, []
    for t, participants in enumerate(f.participants):
        omega = shares(f, participants)
        moved = np.zeros(f.dim)
        for i in participants:
            copy = theta = w.copy()
            for _ in range(f.steps[t, i]):
                if bug != "inner-iterate-carried":
                    theta = copy
                anchor = w if bug == "anchor-at-the-server" else copy
                for _ in range(a["inner_steps"]):
                    theta = theta - a["inner_rate"] * (f.gradient(i, theta) + a["attraction"] * (theta - anchor))
                factor = 1.0 if bug == "outer-factor-missing" else a["attraction"]
                copy = copy - f.rates[t] * factor * (copy - theta)
            moved = moved + omega[i] * ((theta if bug == "personal-models-averaged" else copy) - w)
        w = w + (1.0 if bug == "server-mix-ignored" else a["server_mix"]) * moved
        models.append(w)
    return models


def gossip_sgd(f, bug=""):
    """On a ring with Metropolis weights; the mean of all models is what is compared."""
    size, p = f.num_clients, np.asarray(f.sample_counts) / np.sum(f.sample_counts)
    x, models = dict.fromkeys(range(size), f.start), []
    for t, participants in enumerate(f.participants):
        ends = {i: local_sgd(f, t, i, x[i]) for i in participants}
        new, present = dict(x), sum(p[i] for i in participants)
        for i in participants:
            ring = {(i - 1) % size, (i + 1) % size} - {i}
            taken = {j: min(1, p[j] / p[i]) / (len(ring) + 1) for j in ring if j in ends}
            if bug == "own-model-left-out" and taken:
                total = sum(taken.values())
                taken = {j: weight / total for j, weight in taken.items()}
            own = 1 - sum(taken.values())
            if bug == "steps-added-after-mixing":
                new[i] = own * x[i] + sum(weight * x[j] for j, weight in taken.items()) + ends[i] - x[i]
            elif bug == "never-mixed":
                new[i] = ends[i]
            elif bug == "mean-copied-to-all":
                new[i] = sum(p[j] / present * ends[j] for j in participants)
            else:
                new[i] = own * ends[i] + sum(weight * ends[j] for j, weight in taken.items())
        x = new
        models.append(sum(p[i] * x[i] for i in range(size)))
    return models


WRITTEN = {
    "fedavg": fedavg,
    "fedavgm": fedavgm,
    "feddyn": feddyn,
    "fedgate": fedgate,
    "fednova": fednova,
    "fedopt": fedopt,
    "gossip-sgd": gossip_sgd,
    "fedprox": fedprox,
    "mime": mime,
    "mimelite": mimelite,
    "minibatch-sgd": minibatch_sgd,
    "pfedme": pfedme,
    "scaffold": scaffold,
    "signsgd": signsgd,
    "vrl-sgd": vrl_sgd,
}
"""Hand-written algorithms by the name in the catalogue."""

TELLING = {
    "gossip-sgd": {"mixing": "ring"},
    "fednova": {"prox": 0.5},
    "feddyn": {"alpha": 0.5},
    "fedprox": {"prox": 0.5},
    "signsgd": {"momentum": 0.5},
    "pfedme": {"server_mix": 1.3},
}
"""Parameters under which every mistake shows."""
