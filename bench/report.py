"""Writes the figures and plots of docs/performance.md from the results of `make bench`.

    report.py RESULTS.json PERFORMANCE.md PLOTS

Figures stand between `<!-- NAME -->` and `<!-- /NAME -->`; everything else in the page stays.
"""

import json
import os
import re
import sys

from plots import bars

MEGA = 1 << 20
WORKLOADS = {"print": "print(2+2)", "frame": "numpy+pandas"}


def milliseconds(value):
    return f"{value:.2f}" if value < 10 else f"{value:.0f}"


def multiple(ratio):
    """A ratio as people say it: 1/65, or 3.1."""
    return f"1/{1 / ratio:.0f}" if ratio < 0.1 else f"{ratio:.2f}"


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def style_of(row):
    if row["walls"] == "every wall":
        return "ours"
    return "open" if row["walls"] == "none" else "other"


def executions(results, workload):
    rows = [row for row in results["rows"] if row["workload"] == workload]
    return sorted(rows, key=lambda row: row["p50_ms"])


def latency_plot(results, workload):
    rows = [{"label": row["name"], "value": row["p50_ms"], "tail": row["p99_ms"],
             "style": style_of(row), "figure": f"{milliseconds(row['p50_ms'])} ms"}
            for row in executions(results, workload)]
    return bars(f"One call of {WORKLOADS[workload]}: p50, and p99 as a whisker", "ms", rows, True)


def throughput_plot(results):
    rows = [{"label": f"{entry['name']}, {WORKLOADS[entry['workload']]}",
             "value": entry["per_second"], "figure": f"{entry['per_second']:,.0f}/s",
             "style": "ours" if entry["name"].startswith("glovebox") else "open"}
            for entry in results["throughput"]]
    return bars("Calls per second on all CPUs, each in a fresh process or box", "per second", rows,
                False)


def protocol_plot(results):
    rows = [{"label": name, "value": loads["16"]["rps"], "figure": f"{loads['16']['rps']:,.0f}/s",
             "style": "ours" if name.startswith("glovebox") else "other"}
            for name, loads in results["http"].items()]
    return bars("Calls of a tool that does nothing, HTTP, 16 connections", "per second", rows,
                False)


def machine_text(results):
    machine = results["machine"]
    return (f"{machine['cpu']}, {machine['cpus']} CPUs, {machine['memory_mb'] // 1024} GB, "
            f"Linux {machine['kernel']}, Python {machine['python']}, {machine['date']}; "
            f"{max(row['turns'] for row in results['rows'])} rounds; load average over five "
            f"minutes {machine['load']}, of which the run itself is about two.")


def execution_tables(results):
    parts = []
    for workload, title in WORKLOADS.items():
        parts.append(table((f"`{title}`" if workload == "print" else title, "p50 ms", "p99 ms",
                            "x bare", "after a pause, ms", "x bare", "a call finds", "walls"),
                           [(row["name"], milliseconds(row["p50_ms"]), milliseconds(row["p99_ms"]),
                             multiple(row["ratio_to_bare_python"]),
                             milliseconds(row["rested_p50_ms"]), multiple(row["rested_ratio"]),
                             row["state"], row["walls"])
                            for row in executions(results, workload)]))
    if results["absent"]:
        parts.append("Not measured, because it does not run here:\n\n" + "\n".join(
            f"- {row['name']}: {row['reason'].rstrip('; ')}." for row in results["absent"]))
    return "\n\n".join(parts)


def capacity_table(results):
    rates = [(f"{entry['name']}, {WORKLOADS[entry['workload']]}",
              f"{entry['per_second']:,.0f} per second",
              f"{entry['lowest']:,.0f} to {entry['highest']:,.0f}")
             for entry in results["throughput"]]
    boxes = [(f"a waiting box, {WORKLOADS[entry['workload']]} imported, one of {entry['boxes']}",
              f"{entry['private_dirty_bytes'] / MEGA:.2f} MB private and dirty",
              f"its zygote {entry['zygote_bytes'] / MEGA:.0f} MB")
             for entry in results["box_memory"]]
    memory = results["memory"]
    server = ("`glovebox serve` over HTTP, no boxes",
              f"{memory['server_rss'] / MEGA:.1f} MB resident",
              f"{memory['server_own'] / MEGA:.1f} MB its own")
    return table(("what", "median", "slices, or beside it"), rates + boxes + [server])


def protocol_table(results):
    rows = [(name, *(f"{loads[count]['rps']:,.0f}/s, p99 {loads[count]['p99_ms']:.1f} ms"
                     for count in ("1", "16", "64"))) for name, loads in results["http"].items()]
    pipes = [(name, f"{load['rps']:,.0f}/s", f"{load['p50_ms']:.2f} ms", f"{load['p99_ms']:.2f} ms")
             for name, load in results["stdio"].items()]
    first = results["first_reply"]
    pipes.append(("first reply of `glovebox serve`", "", f"{first['p50_ms']:.1f} ms",
                  f"{first['p99_ms']:.1f} ms"))
    return (table(("HTTP", "1 connection", "16", "64"), rows) + "\n\n"
            + table(("stdio, 10 in flight", "calls", "p50", "p99"), pipes))


def bar_table(results):
    rows = []
    for bar in results["bars"]:
        value = bar["value"]
        shown = bar["reason"] if value is None else (
            multiple(value) if bar["limit"].startswith("1/") else f"{value:.2f}")
        rows.append((bar["bar"], f"{bar['rule']} {bar['limit']}", shown,
                     "met" if bar["met"] else "**missed**"))
    return table(("bar", "limit", "measured", ""), rows)


def replace(page, name, text):
    mark = re.compile(rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)", re.DOTALL)
    if not mark.search(page):
        raise SystemExit(f"the page has no place for '{name}'")
    return mark.sub(lambda match: match.group(1) + text + "\n" + match.group(2), page)


def main():
    results_path, page_path, plots = sys.argv[1:4]
    if not os.path.exists(results_path):
        raise SystemExit(f"there is no {results_path}: run `make bench` first")
    with open(results_path, encoding="utf-8") as file:
        results = json.load(file)
    with open(page_path, encoding="utf-8") as file:
        page = file.read()
    for name, text in {"machine": machine_text(results), "bars": bar_table(results),
                       "executions": execution_tables(results),
                       "capacity": capacity_table(results),
                       "protocol": protocol_table(results)}.items():
        page = replace(page, name, text)
    with open(page_path, "w", encoding="utf-8") as file:
        file.write(page)
    os.makedirs(plots, exist_ok=True)
    for name, drawing in {"print": latency_plot(results, "print"),
                          "frame": latency_plot(results, "frame"),
                          "throughput": throughput_plot(results),
                          "protocol": protocol_plot(results)}.items():
        with open(os.path.join(plots, name + ".svg"), "w", encoding="utf-8") as file:
            file.write(drawing)
    print(f"{page_path}, {plots}/*.svg")


if __name__ == "__main__":
    main()
