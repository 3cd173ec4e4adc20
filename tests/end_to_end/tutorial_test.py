"""docs/isolation-tutorial.md: every command is run, and its output is what the page shows."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).parents[2]
PAGE = ROOT / "docs" / "isolation-tutorial.md"
BLOCK = re.compile(r"^```console\n(.*?)^```", re.M | re.S)

# What differs from machine to machine and from run to run.
VARIABLE = [(re.compile(r"\d+(\.\d+)? s\b"), "N s"),
            (re.compile(r"glovebox-audit-\w+"), "glovebox-audit-X"),
            (re.compile(r"Linux \S+ \S+"), "Linux X"),
            (re.compile(r"as (root|uid \d+)"), "as USER"),
            (re.compile(r"\d{4}-\d\d-\d\dT[\d:]+Z"), "TIME"),
            (re.compile(r"(?<=behind )/\S+/"), "")]


def plain(text):
    for pattern, word in VARIABLE:
        text = pattern.sub(word, text)
    return text


def examples():
    """Command and output, in the order of the page."""
    found = []
    for block in BLOCK.findall(PAGE.read_text()):
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, _, output = part.partition("\n")
            while command.endswith("\\"):
                more, _, output = output.partition("\n")
                command = command[:-1] + more.strip()
            found.append((command, output))
    return found


def matches(shown, got):
    """Line by line; a line of dots stands for any number of lines."""
    pattern = "".join(r"(?:.*\n)*?" if line == "..." else re.escape(line) + r"\n"
                      for line in plain(shown).splitlines())
    return re.fullmatch(pattern, plain(got)) is not None


@unittest.skipUnless(os.geteuid() == 0, "the page shows what root sees")
class Tutorial(unittest.TestCase):
    def test_the_page_has_examples(self):
        self.assertGreaterEqual(len(examples()), 8)

    def test_every_command_answers_what_the_page_says(self):
        with tempfile.TemporaryDirectory(prefix="glovebox-tutorial-test-") as folder:
            built = pathlib.Path(os.environ["GLOVEBOX"]).parent
            (pathlib.Path(folder) / "bin").mkdir()
            for name in ("glovebox", "glovebox-init", "glovebox-python"):
                os.symlink(built / name, f"{folder}/bin/{name}")
            scripts = pathlib.Path("examples", "isolation-tutorial")
            shutil.copytree(ROOT / scripts, folder / scripts)
            environment = {**os.environ, "PATH": f"{folder}/bin:{os.environ['PATH']}"}
            for command, shown in examples():
                with self.subTest(command):
                    ended = subprocess.run(["bash", "-c", command], cwd=folder, env=environment,
                                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                           stderr=subprocess.STDOUT, text=True, timeout=150,
                                           check=False)
                    self.assertTrue(matches(shown, ended.stdout), ended.stdout)


if __name__ == "__main__":
    unittest.main()
