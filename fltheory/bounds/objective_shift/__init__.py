"""How far a minimiser moves when a client arrives or departs: the instances that papers with such a bound share."""
