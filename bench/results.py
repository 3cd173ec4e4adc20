"""Puts the parts of one `make bench` together, judges the bars and prints the whole as a table.

    results.py RESULTS.json PART.json...

Exits 1 when a bar is missed.
"""

import json
import os
import platform
import sys
import time

from bars import judge, row

MEGA = 1 << 20
BASELINES = {"print": "bare python3 -I -S", "frame": "bare python3 -I"}
WORKLOADS = {"print": "print(2+2)", "frame": "numpy+pandas"}


def machine():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        model = next((line.split(":", 1)[1].strip() for line in file
                      if line.startswith("model name")), platform.machine())
    return {"cpu": model, "cpus": os.cpu_count(), "kernel": platform.release(),
            "python": platform.python_version(),
            "memory_mb": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // MEGA,
            "load": round(os.getloadavg()[1], 1),
            "date": time.strftime("%Y-%m-%d", time.gmtime())}


def add_ratios(results):
    for entry in results["rows"]:
        baseline = row(results, BASELINES[entry["workload"]], entry["workload"])
        entry["ratio_to_bare_python"] = entry["p50_ms"] / baseline["p50_ms"]
        entry["rested_ratio"] = entry["rested_p50_ms"] / baseline["rested_p50_ms"]


def print_executions(results):
    for workload, title in WORKLOADS.items():
        print(f"\n{title:34} {'p50 ms':>9} {'p99 ms':>9} {'x bare':>8} {'rested':>9} {'x bare':>8}"
              "  state; walls")
        for entry in results["rows"]:
            if entry["workload"] == workload:
                print(f"{entry['name']:34} {entry['p50_ms']:9.3f} {entry['p99_ms']:9.3f} "
                      f"{entry['ratio_to_bare_python']:8.4f} {entry['rested_p50_ms']:9.3f} "
                      f"{entry['rested_ratio']:8.4f}  {entry['state']}; {entry['walls']}")
    language = results["language"]
    print(f"\nparsing a program of {language['characters']} characters: "
          f"{language['parse_us'] / 1000:.3f} ms, with the language layer's check "
          f"{language['parse_and_check_us'] / 1000:.3f} ms")
    for entry in results["absent"]:
        print(f"{entry['name']:34} cannot run here: {entry['reason']}")


def print_capacity(results):
    print(f"\n{'executions per second, all CPUs':42} {'median':>8} {'lowest':>8} {'highest':>8}")
    for entry in results["throughput"]:
        print(f"{entry['name'] + ', ' + WORKLOADS[entry['workload']]:42} "
              f"{entry['per_second']:8.0f} {entry['lowest']:8.0f} {entry['highest']:8.0f}")
    print(f"\n{'memory':42} {'MB':>8}")
    for entry in results["box_memory"]:
        name = f"a waiting box of {entry['boxes']}, {WORKLOADS[entry['workload']]}"
        print(f"{name:42} {entry['private_dirty_bytes'] / MEGA:8.2f}  private and dirty; "
              f"its zygote {entry['zygote_bytes'] / MEGA:.1f}")
    memory = results["memory"]
    print(f"{'glovebox serve over HTTP, no boxes':42} {memory['server_rss'] / MEGA:8.1f}  "
          f"resident, {memory['server_own'] / MEGA:.1f} its own")


def print_protocol(results):
    counts = list(next(iter(results["http"].values())))
    print(f"\n{'protocol alone, HTTP (wrk)':42}"
          + "".join(f"{f'{count} conn.':>11} {'p50 ms':>8} {'p99 ms':>8}" for count in counts))
    for name, loads in results["http"].items():
        print(f"{name:42}" + "".join(
            f"{load['rps']:9.0f}/s {load['p50_ms']:8.3f} {load['p99_ms']:8.3f}"
            for load in loads.values()))
    print(f"\n{'protocol alone, stdio, 10 in flight':42}{'':>11} {'p50 ms':>8} {'p99 ms':>8}")
    for name, load in results["stdio"].items():
        print(f"{name:42}{load['rps']:9.0f}/s {load['p50_ms']:8.3f} {load['p99_ms']:8.3f}")
    first = results["first_reply"]
    print(f"{'first reply of glovebox serve':42}{'':>11} {first['p50_ms']:8.3f} "
          f"{first['p99_ms']:8.3f}")


def print_jail(results):
    jail = results["jail"]
    print(f"\n{'a server of others, until it answers':42} {'p50 ms':>8} {'x bare':>8}"
          f" {'/bin/true ms':>13}")
    for name, entry in jail["start"].items():
        print(f"{name:42} {entry['p50_ms']:8.1f} "
              f"{entry['p50_ms'] / jail['start']['bare']['p50_ms']:8.3f} "
              f"{jail['true'].get(name, {}).get('p50_ms', float('nan')):13.2f}")
    print(f"\n{'a call of an echo server':42} {'p50 us':>8}")
    for name, entry in jail["relay"].items():
        print(f"{name:42} {entry['p50_us']:8.1f}")


def print_bars(bars):
    print(f"\n{'bar':70} {'measured':>9}  limit")
    for bar in bars:
        value = bar["reason"] if bar["value"] is None else f"{bar['value']:9.4f}"
        print(f"{bar['bar']:70} {value}  {bar['rule']} {bar['limit']}: "
              f"{'met' if bar['met'] else 'MISSED'}")


def main():
    path, *parts = sys.argv[1:]
    results = {"machine": machine()}
    for part in parts:
        with open(part, encoding="utf-8") as file:
            results.update(json.load(file))
    add_ratios(results)
    results["bars"] = judge(results)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(results, file, indent=2)
        file.write("\n")
    print_executions(results)
    print_capacity(results)
    print_protocol(results)
    print_jail(results)
    print_bars(results["bars"])
    missed = sum(not bar["met"] for bar in results["bars"])
    print(f"\n{path}: {len(results['bars']) - missed} bars met, {missed} missed")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
