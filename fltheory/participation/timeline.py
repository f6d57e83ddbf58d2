r"""Arrivals and departures of clients, and what they do to the objective and the learning rate.

* **Arrival** of client :math:`l` in round :math:`\tau_0`: before it the client does nothing and is not in the
  objective; from it on the weights are :math:`\tilde p_i = n_i / \sum_j n_j` over all members, and the learning
  rate restarts.
* **Departure** in round :math:`\tau_0`: from it on the client completes no step. *Include* keeps it in the
  objective and leaves the learning rate alone; *exclude* takes it out, spreads the weights over the other
  members by sample count, and restarts the learning rate.
* **Fast reboot**: the weight of an arrived client is raised to three times its value at first and decays back
  like :math:`\tau^{-2}`. The source does not print the exact form; the one taken here is the simplest with these
  two properties, :math:`p_l\,\bigl(1 + 2\tau^{-2}\bigr)` with :math:`\tau = 1` in the round of arrival.

*Members* are the clients in the objective: those that have arrived and have not been excluded. A departed client
that is still included stays a member; the server may ask it, in vain.

Source: Ruan, Zhang, Liang, Joe-Wong, *Towards flexible device participation in federated learning*, AISTATS 2021,
sections 3.3, 4.2, 4.3, 5.3.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fltheory._internal import arguments
from fltheory._internal.arguments import Floats
from fltheory.errors import InvalidParameter
from fltheory.participation.selection import Mask


@dataclass(frozen=True, kw_only=True, slots=True)
class Arrival:
    """A client that takes part from a round on.

    Parameters
    ----------
    client
        Number of the client, from 0.
    round
        First round with the client, at least 1.
    fast_reboot
        Raise its weight for a while.
    """

    client: int
    round: int
    fast_reboot: bool = False

    def __post_init__(self) -> None:
        arguments.integer("Arrival", "client", self.client, low=0)
        arguments.integer("Arrival", "round", self.round, low=1, remedy="a client of round 0 needs no arrival")
        arguments.boolean("Arrival", "fast_reboot", self.fast_reboot)


@dataclass(frozen=True, kw_only=True, slots=True)
class Departure:
    """A client that does nothing from a round on.

    Parameters
    ----------
    client
        Number of the client, from 0.
    round
        First round without the client, at least 1.
    exclude
        Whether the objective drops the client too.
    """

    client: int
    round: int
    exclude: bool

    def __post_init__(self) -> None:
        arguments.integer("Departure", "client", self.client, low=0)
        arguments.integer("Departure", "round", self.round, low=1, remedy="leave the client out of the problem instead")
        arguments.boolean("Departure", "exclude", self.exclude)


@dataclass(frozen=True, kw_only=True, slots=True)
class Timeline:
    """All arrivals and departures; a client may arrive once and depart once, later.

    Parameters
    ----------
    arrivals, departures
        The events, in any order.
    """

    arrivals: tuple[Arrival, ...] = ()
    departures: tuple[Departure, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "arrivals", tuple(self.arrivals))
        object.__setattr__(self, "departures", tuple(self.departures))
        for field, kind in (("arrivals", Arrival), ("departures", Departure)):
            events = getattr(self, field)
            for event in events:
                if not isinstance(event, kind):
                    raise arguments.fail("Timeline", field, f"a list of {kind.__name__}", event)
            clients = [event.client for event in events]
            twice = sorted({client for client in clients if clients.count(client) > 1})
            if twice:
                raise InvalidParameter(
                    f"Timeline.{field} must name a client at most once, got client {twice[0]} "
                    f"{clients.count(twice[0])} times; a client that returns needs a second number"
                )
        arrived = {event.client: event.round for event in self.arrivals}
        for event in self.departures:
            if event.round <= arrived.get(event.client, -1):
                raise InvalidParameter(
                    f"Timeline.departures must come after the arrival of the same client, got client {event.client} "
                    f"departing in round {event.round} and arriving in round {arrived[event.client]}"
                )

    @property
    def events(self) -> tuple[Arrival | Departure, ...]:
        """Arrivals and departures together."""
        return (*self.arrivals, *self.departures)

    def check(self, num_clients: int) -> None:
        """Raise unless every event is about one of the clients and the objective never loses its last one."""
        for event in self.events:
            arguments.integer(type(event).__name__, "client", event.client, low=0, high=num_clients - 1)
        if self.fewest_members(num_clients) == 0:
            raise InvalidParameter(
                "Timeline must leave at least one client in the objective in every round; "
                "let some client be there from round 0 and stay"
            )

    def fewest_members(self, num_clients: int) -> int:
        """Return the smallest number of members over all rounds."""
        rounds = {0, *(event.round for event in self.events)}
        return min(int(np.count_nonzero(self.members(index, num_clients))) for index in rounds)

    def members(self, index: int, num_clients: int) -> Mask:
        """Return who is in the objective in round ``index``, shape ``(clients,)``."""
        mask = np.ones(num_clients, dtype=np.bool_)
        for arrival in self.arrivals:
            mask[arrival.client] = index >= arrival.round
        for departure in self.departures:
            if departure.exclude and index >= departure.round:
                mask[departure.client] = False
        return mask

    def present(self, index: int, num_clients: int) -> Mask:
        """Return who can work in round ``index``, shape ``(clients,)``."""
        mask = self.members(index, num_clients)
        for departure in self.departures:
            if index >= departure.round:
                mask[departure.client] = False
        return mask

    def restart_before(self, index: int) -> int:
        """Return the latest round, at most ``index``, in which the objective changed; 0 if it never did."""
        shifts = [event.round for event in self.arrivals]
        shifts += [event.round for event in self.departures if event.exclude]
        return max((shift for shift in shifts if shift <= index), default=0)

    def boost(self, index: int, num_clients: int) -> Floats:
        """Return the fast-reboot factor of every client in round ``index``, shape ``(clients,)``."""
        factor = np.ones(num_clients)
        for arrival in self.arrivals:
            if arrival.fast_reboot and index >= arrival.round:
                factor[arrival.client] = 1.0 + 2.0 * float(index - arrival.round + 1) ** -2
        return factor
