"""A program as a model writes it: what bench/language_cost.cc gives to the language layer."""

import json
import math
import re
import statistics
from collections import Counter, defaultdict
from dataclasses import dataclass, field

RAW = """
2026-01-03 north 12.5 ok
2026-01-03 south 9.25 ok
2026-01-04 north 14.0 late
2026-01-05 south 8.75 ok
2026-01-05 west 31.5 lost
"""


@dataclass
class Reading:
    day: str
    region: str
    value: float
    state: str
    notes: list[str] = field(default_factory=list)

    @property
    def is_good(self):
        return self.state == "ok" and self.value > 0


def parse(text):
    pattern = re.compile(r"(?P<day>\S+) (?P<region>\w+) (?P<value>[\d.]+) (?P<state>\w+)")
    readings = []
    for number, line in enumerate(text.strip().splitlines(), start=1):
        match = pattern.fullmatch(line.strip())
        if match is None:
            raise ValueError(f"line {number}: cannot read {line!r}")
        fields = match.groupdict()
        readings.append(Reading(fields["day"], fields["region"], float(fields["value"]),
                                fields["state"]))
    return readings


def summarise(readings):
    by_region = defaultdict(list)
    for reading in readings:
        if reading.is_good:
            by_region[reading.region].append(reading.value)
    summary = {}
    for region, values in sorted(by_region.items()):
        mean = statistics.fmean(values)
        spread = statistics.pstdev(values) if len(values) > 1 else 0.0
        summary[region] = {"count": len(values), "mean": round(mean, 2),
                           "spread": round(spread, 3), "log": round(math.log1p(mean), 4)}
    return summary


def moving_average(values, width=3):
    window, averages = [], []
    for value in values:
        window.append(value)
        if len(window) > width:
            window.pop(0)
        averages.append(sum(window) / len(window))
    return averages


def primes(limit):
    sieve = [True] * (limit + 1)
    sieve[:2] = [False, False]
    for candidate in range(2, math.isqrt(limit) + 1):
        if sieve[candidate]:
            sieve[candidate * candidate::candidate] = [False] * len(
                range(candidate * candidate, limit + 1, candidate))
    return [number for number, prime in enumerate(sieve) if prime]


readings = parse(RAW)
print(json.dumps(summarise(readings), indent=2))
print(Counter(reading.state for reading in readings).most_common())
print([round(value, 2) for value in moving_average([reading.value for reading in readings])])
print(primes(100)[-3:], {key: value for key, value in zip("abc", range(3)) if value})
try:
    parse("nonsense")
except ValueError as error:
    print(f"refused: {error}")
