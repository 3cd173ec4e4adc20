#!/usr/bin/python3
"""Packs the programs as an MCPB bundle and writes the registry entry that belongs to it.

    dev/make_mcpb.py PROGRAMS OUTPUT [--name NAME] [--url URL]

PROGRAMS is the folder of glovebox and its parts. OUTPUT gets glovebox.mcpb, and server.json
with the bundle's checksum. A registry takes names and addresses of their owner only: NAME is in
reverse-DNS form (io.github.you/glovebox), URL is where the bundle will be found.
"""

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PACKAGING = os.path.join(ROOT, "packaging")


def mcpb(*arguments):
    packer = os.path.join(ROOT, "tests/node_modules/@anthropic-ai/mcpb/dist/cli/cli.js")
    subprocess.run([os.path.join(ROOT, "tests/node"), packer, *arguments], check=True)


def read_json(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return json.load(file)


def write_json(document, *path):
    with open(os.path.join(*path), "w", encoding="utf-8") as file:
        json.dump(document, file, indent=2)
        file.write("\n")


def version_of(program):
    """0.1.0 of "glovebox 0.1.0"."""
    return subprocess.run([program, "--version"], check=True, text=True,
                          stdout=subprocess.PIPE).stdout.split()[-1]


def pack(programs, version, bundle):
    """One folder as it will be after unpacking, then the packer."""
    with tempfile.TemporaryDirectory() as folder:
        manifest = read_json(PACKAGING, "mcpb/manifest.json")
        manifest["version"] = version
        write_json(manifest, folder, "manifest.json")
        shutil.copy(os.path.join(ROOT, "LICENSE"), folder)
        os.mkdir(os.path.join(folder, "server"))
        for name in ("glovebox", "glovebox-egress", "glovebox-init", "glovebox-python"):
            packed = os.path.join(folder, "server", name)
            subprocess.run(["strip", "-o", packed, os.path.join(programs, name)], check=True)
            os.chmod(packed, 0o755)
        mcpb("validate", os.path.join(folder, "manifest.json"))
        mcpb("pack", folder, bundle)


def write_entry(version, bundle, name, url, path):
    entry = read_json(PACKAGING, "server.json")
    package = entry["packages"][0]
    with open(bundle, "rb") as file:
        package["fileSha256"] = hashlib.sha256(file.read()).hexdigest()
    entry["version"] = package["version"] = version
    if name:
        entry["name"] = name
    if url:
        package["identifier"] = url
    write_json(entry, path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("programs")
    parser.add_argument("output")
    parser.add_argument("--name")
    parser.add_argument("--url")
    arguments = parser.parse_args()
    os.makedirs(arguments.output, exist_ok=True)
    bundle = os.path.join(arguments.output, "glovebox.mcpb")
    version = version_of(os.path.join(arguments.programs, "glovebox"))
    pack(arguments.programs, version, bundle)
    write_entry(version, bundle, arguments.name, arguments.url,
                os.path.join(arguments.output, "server.json"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
