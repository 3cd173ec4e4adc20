#!/usr/bin/python3
"""House rules as a test: layers, sizes, names, bans. Prints one line per problem, exits 1 on any.

    dev/tidy.py            checks the tree it lives in
    dev/tidy.py FOLDER     checks another one

Every rule is a function from the files to its problems; dev/tidy_test.py proves that each can fail.
"""

import os
import re
import subprocess
import sys

# The layer table (src/README.md): layer -> layers it may include, besides itself. Edges only point
# down; the same edges are the DEPENDS of glovebox_library().
LAYERS = {
    # The request, left to right.
    "transport": {"base"},
    "mcp": {"base", "transport"},
    "tools": {"base", "event", "mcp", "executor", "policy", "python/wire"},
    "executor": {"base", "event", "policy", "python/client", "python/wire", "container", "egress",
                 "sandbox/parent", "sandbox/plan"},
    # The box.
    "python/wire": set(),
    "python/client": {"base", "event", "policy", "python/wire", "sandbox/compile", "sandbox/parent",
                      "sandbox/plan"},
    "python/zygote": {"base", "python/wire", "sandbox/plan", "sandbox/child"},
    "sandbox/plan": set(),
    "sandbox/compile": {"base", "policy", "sandbox/plan"},
    "sandbox/parent": {"base", "event", "sandbox/plan", "sandbox/compile", "sandbox/child"},
    "sandbox/child": {"sandbox/plan"},
    "sandbox/init": {"sandbox/plan"},
    # Around it.
    "policy": {"base"},
    "event": {"base"},
    "jail": {"base", "event", "policy", "executor", "container", "transport", "mcp", "egress",
             "sandbox/compile", "sandbox/parent", "sandbox/plan"},
    "egress": {"base", "event", "policy", "python/wire", "sandbox/child", "sandbox/compile",
               "sandbox/parent", "sandbox/plan"},
    "container": {"base", "event", "policy", "python/wire", "sandbox/compile"},
    "doctor": {"base", "policy", "transport", "executor", "sandbox/compile", "sandbox/parent",
               "sandbox/plan"},
    "audit": {"base", "event", "policy", "transport", "mcp", "executor", "container",
              "python/wire", "sandbox/parent", "sandbox/plan"},
    "base": set(),
}
LAYERS["app"] = set(LAYERS)  # main() and one file per subcommand: wires everything together

LINES_MAX = 600
COLUMNS_MAX = 100
README_LINES_MAX = 40

# Banned in C++ outside comments and string literals: pattern, what it is, what to do instead.
# A name counts only as a free function, so that box.exit() and Foo::exit() are other things.
CALL = r"(?<![\w.>:])(?:std::|::)?%s\s*\("
BANS = [
    (re.compile(r"\bstd::cout\b"), "std::cout",
     "stdout belongs to the MCP client: write through the transport, or std::fputs in exec"),
    (re.compile(CALL % "exit"), "exit()", "_exit() in a child, return from main elsewhere"),
    (re.compile(CALL % "dup"), "dup()", "fcntl(F_DUPFD_CLOEXEC, 3)"),
    (re.compile(CALL % "strerror"), "strerror()", "Error::FromErrno()"),
    (re.compile(CALL % "system"), "system()", "a plan and sandbox/parent; no shell anywhere"),
    (re.compile(CALL % "popen"), "popen()", "a plan and sandbox/parent; no shell anywhere"),
    (re.compile(r"\busing\s+namespace\s+std\s*;"), "using namespace std", "write std::"),
]
# Banned in all code, comments included. Spelt so that this file passes its own rules.
MARKERS = re.compile(r"\b(FIX" + r"ME|TO" + r"DO|X" + r"XX)\b")
BARE_NOLINT = re.compile(r"\bNOLINT(?:NEXTLINE|BEGIN|END)?\b(?!\([a-z])")
# Registries are used by package name; their hosts are a matter of the machine's configuration.
REGISTRY_HOSTS = re.compile("|".join(
    re.escape(".".join(parts)) for parts in (("deb", "debian", "org"),
                                             ("security", "debian", "org"),
                                             ("snapshot", "debian", "org"),
                                             ("registry", "npmjs", "org"))))

CPP = (".h", ".cc")
CODE = CPP + (".c", ".py", ".sh", ".js", ".mjs", ".ts", ".cmake")
CODE_NAMES = {"CMakeLists.txt", "Makefile", "setup", "pre-commit", "check-deep", "run",
              "npm_install", "node"}
GENERATED = "embedded/"  # data of policies/ as headers (cmake/embed.cmake): no layer, no includes
FOLDER_FILES = {"CMakeLists.txt", "README.md"}  # may stand in src/ folders that are no layer
SNAKE_CASE = re.compile(r"_{0,2}[a-z0-9]+(_+[a-z0-9]+)*_{0,2}(\.[a-z0-9]+)+")
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')


def is_code(path):
    return path.endswith(CODE) or os.path.basename(path) in CODE_NAMES


def layer_of(path):
    """The layer that `path`, relative to src/, lies in; None when in none."""
    parts = path.split("/")
    for length in (2, 1):
        candidate = "/".join(parts[:length])
        if len(parts) > length and candidate in LAYERS:
            return candidate
    return None


def without_comments_and_strings(text):
    """C++ with the insides of comments and literals blanked; line numbers stay."""
    token = re.compile(
        r'R"(?P<mark>[^\s()\\]{0,16})\(.*?\)(?P=mark)"'  # raw string
        r'|"(?:\\.|[^"\\\n])*"'
        r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'"  # not the separator in 30'000
        r"|//[^\n]*"
        r"|/\*.*?\*/", re.DOTALL)
    return token.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)


def lines_of(text):
    return enumerate(text.split("\n"), start=1)


# --- the rules: each takes {path: text} and yields (path, line, message) ---


def check_layers(files):
    for path, text in files.items():
        if not path.startswith("src/"):
            continue
        relative = path[len("src/"):]
        layer = layer_of(relative)
        if layer is None:
            if os.path.basename(path) not in FOLDER_FILES:
                yield path, 1, "is in no layer of the table in dev/tidy.py"
            continue
        if not path.endswith(CPP):
            continue
        for number, line in lines_of(text):
            match = INCLUDE.match(line)
            if not match:
                continue
            ours, system = match.groups()
            if system:
                if "src/" + system in files:
                    yield path, number, f'<{system}> is ours: include it as "{system}"'
                continue
            if ours.startswith(GENERATED):
                continue
            target = layer_of(ours)
            if target is None:
                yield path, number, f'"{ours}" names no layer: write the path from src/'
            elif target != layer and target not in LAYERS[layer]:
                yield path, number, f"{layer} may not include {ours}"


def cmake_calls(text, name):
    """(line, words) of every call of `name`; variables made by set() in the same file expanded."""
    text = re.sub(r"#[^\n]*", "", text)
    variables = {}
    for match in re.finditer(r"\bset\(\s*(\w+)\s+([^)]*)\)", text):
        variables[match.group(1)] = match.group(2).split()
    for match in re.finditer(r"\b%s\(([^)]*)\)" % name, text):
        words = []
        for word in match.group(1).split():
            reference = re.fullmatch(r"\$\{(\w+)\}", word)
            words += variables.get(reference.group(1), []) if reference else [word]
        yield text.count("\n", 0, match.start()) + 1, words


def check_cmake_edges(files):
    """The DEPENDS of our libraries are edges of the same table."""
    libraries = {}  # target -> (path, line, layer, depends)
    for path, text in files.items():
        if not (path.startswith("src/") and path.endswith("/CMakeLists.txt")):
            continue
        folder = os.path.dirname(path)[len("src/"):]
        for line, words in cmake_calls(text, "glovebox_library"):
            keyword, by_keyword = None, {"SOURCES": [], "DEPENDS": []}
            for word in words[1:]:
                if word in by_keyword:
                    keyword = word
                elif word.isupper() and word.isidentifier():
                    keyword = None
                elif keyword:
                    by_keyword[keyword].append(word)
            sources = by_keyword["SOURCES"] or ["any.cc"]
            layer = layer_of(os.path.normpath(os.path.join(folder, sources[0])))
            if words and layer:
                libraries[words[0]] = (path, line, layer, by_keyword["DEPENDS"])
    for path, line, layer, depends in libraries.values():
        for target in depends:
            target_layer = libraries[target][2] if target in libraries else layer
            if target_layer != layer and target_layer not in LAYERS[layer]:
                yield path, line, f"{layer} may not depend on {target} ({target_layer})"


def check_shape(files):
    for path, text in files.items():
        if not text:
            continue
        if not text.endswith("\n"):
            yield path, text.count("\n") + 1, "does not end with a newline"
        elif text.endswith("\n\n"):
            yield path, text.count("\n"), "ends with blank lines"
        for number, line in lines_of(text):
            if line != line.rstrip():
                yield path, number, "has blanks at the end of the line"
        if not is_code(path):
            continue
        line_count = text.count("\n")
        if line_count > LINES_MAX:
            yield path, LINES_MAX + 1, f"has {line_count} lines, more than {LINES_MAX}: divide it"
        for number, line in lines_of(text):
            if len(line) > COLUMNS_MAX:
                yield path, number, f"has {len(line)} columns, more than {COLUMNS_MAX}"
            if not line.isascii():
                yield path, number, "is not ASCII: write an escape, or other words"


def check_headers(files):
    for path, text in files.items():
        if path.endswith(".h") and not re.search(r"^#pragma once$", text, re.MULTILINE):
            yield path, 1, "has no #pragma once"


def check_bans(files):
    for path, text in files.items():
        if not is_code(path):
            continue
        for number, line in lines_of(text):
            if match := MARKERS.search(line):
                yield path, number, f"{match.group()} is banned: do it now, or file an issue"
        if not path.endswith(CPP):
            continue
        for number, line in lines_of(text):
            if BARE_NOLINT.search(line):
                yield path, number, "NOLINT without a check is banned: NOLINT(check-name), and why"
        for number, line in lines_of(without_comments_and_strings(text)):
            for pattern, what, instead in BANS:
                if pattern.search(line):
                    yield path, number, f"{what} is banned: {instead}"


def check_registries(files):
    for path, text in files.items():
        for number, line in lines_of(text):
            if match := REGISTRY_HOSTS.search(line):
                yield path, number, f"{match.group()}: name packages, never a registry's host"


def check_names(files):
    for path in files:
        if not path.startswith("src/"):
            continue
        name = os.path.basename(path)
        if name not in FOLDER_FILES and not SNAKE_CASE.fullmatch(name):
            yield path, 1, "is not named in snake_case"


def check_tests_have_a_subject(files):
    for path in files:
        if path.startswith("src/") and path.endswith("_test.cc"):
            subject = path[:-len("_test.cc")]
            if subject + ".h" not in files and subject + ".cc" not in files:
                yield path, 1, f"tests nothing: there is no {subject}.h or .cc beside it"


def check_readmes(files):
    layers = {layer_of(path[len("src/"):]) for path in files
              if path.startswith("src/") and path.endswith(CODE)}
    for layer in sorted(filter(None, layers)):
        if f"src/{layer}/README.md" not in files:
            yield f"src/{layer}/README.md", 1, "is missing: purpose, key types, invariants"
    for path, text in files.items():
        if (path.startswith("src/") and path.endswith("/README.md")
                and text.count("\n") > README_LINES_MAX):
            yield path, README_LINES_MAX + 1, f"has more than {README_LINES_MAX} lines"


RULES = [check_layers, check_cmake_edges, check_shape, check_headers, check_bans, check_registries,
         check_names, check_tests_have_a_subject, check_readmes]


def check(files):
    """All problems of {path: text} as sorted "path:line: message" lines."""
    problems = {problem for rule in RULES for problem in rule(files)}
    return [f"{path}:{line}: {message}" for path, line, message in sorted(problems)]


def our_paths(root):
    """Tracked files and new ones that git does not ignore; without git, everything but build/."""
    listing = subprocess.run(
        ["git", "-C", root, "-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others",
         "--exclude-standard"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    if listing.returncode == 0:
        return [os.fsdecode(path) for path in listing.stdout.split(b"\0") if path]
    found = []
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(set(folders) - {".git", "build", "node_modules", "__pycache__"})
        found += [os.path.relpath(os.path.join(folder, name), root) for name in names]
    return found


def read_tree(root):
    files = {}
    for path in our_paths(root):
        full = os.path.join(root, path)
        if path.startswith("fuzz/corpus/") or os.path.islink(full) or not os.path.isfile(full):
            continue  # hostile bytes on purpose; a link; removed but not committed yet
        with open(full, "rb") as file:
            content = file.read()
        if b"\0" not in content:
            files[path] = content.decode("utf-8", "surrogateescape")
    return files


def main(arguments):
    root = os.path.abspath(arguments[0] if arguments else os.path.dirname(__file__) + "/..")
    files = read_tree(root)
    problems = check(files)
    for problem in problems:
        print(problem)
    print(f"tidy: {len(files)} files, {len(problems)} problem{'s' * (len(problems) != 1)}")
    return 1 if problems or not files else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
