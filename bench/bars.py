"""The bars: what has to hold, judged over the results of one run (results.py).

A bar is a sentence, a figure taken from the results, and the limit on it. A figure that was not
measured misses its bar.
"""

MEGA = 1 << 20
OURS, BARE = "glovebox executor, warm", "bare python3 -I -S"
MODERN, LEGACY = "glovebox noop, modern", "glovebox noop, legacy session"
OTHER, BEAST = "server-everything echo, legacy session", "raw Beast hello"


def row(results, name, workload="print"):
    return next(row for row in results["rows"]
                if row["name"] == name and row["workload"] == workload)


def to_bare(results, name, key="p50_ms", workload="print"):
    """A row's figure, in p50s of bare Python doing the same."""
    bare = row(results, BARE if workload == "print" else "bare python3 -I", workload)
    return row(results, name, workload)[key] / bare["p50_ms"]


def share_of_forks(results, workload):
    rates = {rate["name"]: rate["per_second"] for rate in results["throughput"]
             if rate["workload"] == workload}
    return rates["glovebox executor"] / rates["fork server, no walls"]


def box_megabytes(results, workload):
    memory = next(box for box in results["box_memory"] if box["workload"] == workload)
    if memory["boxes"] != 8:
        raise KeyError(f"{memory['boxes']} boxes wait, not 8")
    return memory["private_dirty_bytes"] / MEGA


def slowest(results, part, names, *keys):
    rates = []
    for name in names:
        value = results[part][name]
        for key in keys:
            value = value[key]
        rates.append(value)
    return min(rates)


def http_share(results, name):
    return (slowest(results, "http", (MODERN, LEGACY), "16", "rps")
            / results["http"][name]["16"]["rps"])


def stdio_share(results):
    return (slowest(results, "stdio", ("glovebox noop, modern", "glovebox noop, legacy"), "rps")
            / results["stdio"]["server-everything echo, legacy"]["rps"])


def http_tail(results):
    return max(row["64"]["p99_ms"] / row["64"]["p50_ms"]
               for row in (results["http"][MODERN], results["http"][LEGACY]))


def warm_to_cold_container(results):
    """A container that waits against a cold one of the same runtime, on the platform it uses."""
    cold = min(row["p50_ms"] for row in results["rows"] if row["name"].startswith("gVisor runsc"))
    return row(results, "glovebox container, warm")["p50_ms"] / cold


def jail_start(results):
    start = results["jail"]["start"]
    return start["glovebox run"]["p50_ms"] / start["bare"]["p50_ms"]


def jail_relay(results):
    relay = results["jail"]["relay"]
    return relay["glovebox run"]["p50_us"] - relay["plain pipe relay"]["p50_us"]


AT_MOST, AT_LEAST = "at most", "at least"

# (what, figure, at most or at least, limit, how the limit reads)
BARS = [
    ("server-filesystem in the jail, until `initialize` is answered / bare",
     jail_start, AT_MOST, 1.10, "1.10"),
    ("a call through the jail's relay, p50, us beyond a plain pipe relay",
     jail_relay, AT_MOST, 50, "50"),
    ("print(2+2) in the executor, warm, p50 / bare python",
     lambda r: to_bare(r, OURS), AT_MOST, 1 / 30, "1/30"),
    ("print(2+2) in the executor, warm, p99 / bare python's p50",
     lambda r: to_bare(r, OURS, "p99_ms"), AT_MOST, 1 / 6, "1/6"),
    ("print(2+2) through stdio MCP, p50 / bare python",
     lambda r: to_bare(r, "glovebox serve, stdio MCP"), AT_MOST, 1 / 20, "1/20"),
    ("validate_code through stdio MCP, p50 / bare python",
     lambda r: to_bare(r, "validate_code, stdio MCP"), AT_MOST, 1 / 8, "1/8"),
    ("print(2+2) in a container that waits, p50 / a cold one under gVisor",
     warm_to_cold_container, AT_MOST, 1 / 10, "1/10"),
    ("parsing a program with the language layer / ast.parse alone",
     lambda r: r["language"]["parse_and_check_us"] / r["language"]["parse_us"],
     AT_MOST, 1.5, "1.5"),
    ("numpy+pandas in the executor, warm, p50 / bare python doing the same",
     lambda r: to_bare(r, OURS, workload="frame"), AT_MOST, 1 / 120, "1/120"),
    ("print(2+2) per second, every box used once / plain fork server",
     lambda r: share_of_forks(r, "print"), AT_LEAST, 0.6, "0.60"),
    ("numpy+pandas per second, every box used once / plain fork server",
     lambda r: share_of_forks(r, "frame"), AT_LEAST, 0.6, "0.60"),
    ("glovebox exec, cold, p50 / bare python",
     lambda r: to_bare(r, "glovebox exec, cold"), AT_MOST, 3, "3"),
    ("private memory of a waiting box, basic, MB, 8 of them",
     lambda r: box_megabytes(r, "print"), AT_MOST, 1, "1"),
    ("private memory of a waiting box, numpy+pandas, MB, 8 of them",
     lambda r: box_megabytes(r, "frame"), AT_MOST, 2, "2"),
    ("resident memory of the server without boxes, MB",
     lambda r: r["memory"]["server_rss"] / MEGA, AT_MOST, 20, "20"),
    ("first reply of glovebox serve after exec, p50 ms",
     lambda r: r["first_reply"]["p50_ms"], AT_MOST, 20, "20"),
    ("HTTP, 16 connections, both eras / server-everything",
     lambda r: http_share(r, OTHER), AT_LEAST, 4, "4"),
    ("HTTP, 16 connections, both eras / raw Beast",
     lambda r: http_share(r, BEAST), AT_LEAST, 0.6, "0.60"),
    ("HTTP, 64 connections, both eras, p99 / p50",
     http_tail, AT_MOST, 10, "10"),
    ("stdio, both eras / server-everything",
     stdio_share, AT_LEAST, 2, "2"),
]


def judge(results):
    """[{bar, value, rule, limit, met}]; the value is None where nothing was measured."""
    judged = []
    for what, figure, rule, limit, written in BARS:
        try:
            value = figure(results)
            met = value <= limit if rule == AT_MOST else value >= limit
            reason = ""
        except (KeyError, StopIteration, ValueError) as error:
            value, met, reason = None, False, f"not measured: {error}"
        judged.append({"bar": what, "value": value, "rule": rule, "limit": written, "met": met,
                       "reason": reason})
    return judged
