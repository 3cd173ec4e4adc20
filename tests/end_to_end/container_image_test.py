"""What SANDBOX_CONTAINER_IMAGE may name besides a folder, through `glovebox serve`: an OCI image
layout, and an image that podman has. The image is made of this machine's own Python.
"""
import gzip
import hashlib
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest

import docker_daemon
from container_tier_test import execute, server_for
from http_server import GLOVEBOX

CACHE = pathlib.Path("/var/cache/glovebox/images")
PYTHON = os.environ.get("GLOVEBOX_PYTHON", str(pathlib.Path(GLOVEBOX).parent / "glovebox-python"))
STDLIB = f"/usr/lib/python{sys.version_info.major}.{sys.version_info.minor}"
FILES = STDLIB + "/of_layers"  # where Landlock lets a container look that shares our kernel
ENGINE_NAME = "localhost/glovebox-image-test:1"
LAYER = "application/vnd.oci.image.layer.v1.tar"


def libraries():
    """Where the program finds what it is linked with, its loader included."""
    text = subprocess.run(["ldd", PYTHON], capture_output=True, text=True, check=True).stdout
    return re.findall(r"(/\S+) \(0x", text)


def tree(folder):
    """A root with Python and nothing else."""
    without = shutil.ignore_patterns("__pycache__", "test", "idlelib", "config-3*")
    for name in ("lib", "lib64", "bin"):
        (folder / "usr" / name).mkdir(parents=True)
        (folder / name).symlink_to("usr/" + name)
    for path in libraries():
        place = folder / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, place)
    shutil.copytree(STDLIB, folder / STDLIB.lstrip("/"), symlinks=True, ignore=without)
    here = folder / FILES.lstrip("/")
    here.mkdir()
    for name in ("layer", "gone", "gains"):
        (here / name).write_text("lower")
    (here / "gains").chmod(0o4755)
    return folder


def upper_layer(text):
    """What a second layer changes: a file of the first one is another, one is no more."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as archive:
        for name, content in (("layer", text), (".wh.gone", "")):
            member = tarfile.TarInfo(f"{FILES}/{name}".lstrip("/"))
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content.encode()))
    return gzip.compress(data.getvalue())


class Layout:
    """An OCI image layout that is being written."""

    def __init__(self, folder):
        self.folder = folder
        self.blobs = folder / "blobs/sha256"
        self.blobs.mkdir(parents=True)
        (folder / "oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}')

    def add(self, data, media_type):
        digest = hashlib.sha256(data).hexdigest()
        (self.blobs / digest).write_bytes(data)
        return {"mediaType": media_type, "digest": "sha256:" + digest, "size": len(data)}

    def finish(self, layers):
        manifest = {"schemaVersion": 2, "layers": layers,
                    "config": self.add(b"{}", "application/vnd.oci.image.config.v1+json")}
        described = self.add(json.dumps(manifest).encode(),
                             "application/vnd.oci.image.manifest.v1+json")
        (self.folder / "index.json").write_text(json.dumps(
            {"schemaVersion": 2, "manifests": [described]}))
        return described["digest"]


LOOK = f"""
import json, os, stat
os.chdir({FILES!r})
print(open('layer').read(), sorted(os.listdir()), oct(stat.S_IMODE(os.stat('gains').st_mode)),
      os.path.exists('/usr/share'), json.loads('[1]'))
"""


def podman(*arguments):
    return subprocess.run(["podman", *arguments], capture_output=True, text=True, check=False)


class Images(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="glovebox-image-test-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        root = tree(cls.folder / "tree")
        cls.archive = cls.folder / "root.tar"
        subprocess.run(["tar", "-C", root, "-cf", cls.archive, "."], check=True)
        before = set(CACHE.glob("*"))

        def forget():
            for path in set(CACHE.glob("*")) - before:
                shutil.rmtree(path)

        cls.addClassCleanup(forget)

    def look(self, image, runtime="runsc"):
        with server_for(SANDBOX_CONTAINER_RUNTIME=runtime,
                        SANDBOX_CONTAINER_IMAGE=str(image)) as server:
            return execute(server, LOOK)

    def layout(self, text):
        """A layout of two layers; the second one writes `text`."""
        layout = Layout(self.folder / text)
        layers = [layout.add(self.archive.read_bytes(), LAYER),
                  layout.add(upper_layer(text), LAYER + "+gzip")]
        return layout, layout.finish(layers), layers

    def test_a_layout_is_unpacked_once_layer_by_layer(self):
        layout, digest, layers = self.layout("upper")
        self.enterContext(docker_daemon.daemon())
        for runtime in ("runsc", "runc", "podman", "docker"):
            answer = self.look(layout.folder, runtime)
            self.assertEqual(answer["stdout"],
                             "upper ['gains', 'layer'] 0o755 False [1]\n", answer)
            self.assertIn(runtime, answer["container"])
            # What is in the cache needs no layers any more.
            for layer in layers:
                (layout.blobs / layer["digest"][7:]).unlink(missing_ok=True)
        kept = CACHE / digest.replace(":", "-") / "rootfs"
        self.assertEqual((kept / FILES.lstrip("/") / "layer").read_text(), "upper")
        self.assertFalse((CACHE / "new").exists())

    def test_a_layer_that_was_changed_is_refused(self):
        layout, _, layers = self.layout("changed")
        layer = layout.blobs / layers[1]["digest"][7:]
        layer.write_bytes(layer.read_bytes()[:-1] + b"x")
        answer = self.look(layout.folder)
        self.assertEqual(answer["status"], "setup_failed", answer)
        self.assertIn(f"{layer}: must have the digest sha256:", answer["error"])
        self.assertFalse((CACHE / "new").exists())

    def test_an_image_that_podman_has(self):
        imported = podman("import", str(self.archive), ENGINE_NAME)
        self.assertEqual(imported.returncode, 0, imported.stderr)
        self.addCleanup(podman, "rmi", "--force", ENGINE_NAME)
        for name in ("podman:" + ENGINE_NAME, ENGINE_NAME):
            answer = self.look(name)
            self.assertEqual(answer["stdout"],
                             "lower ['gains', 'gone', 'layer'] 0o755 False [1]\n", answer)
        left = podman("ps", "--all", "--format", "{{.Names}}").stdout
        self.assertNotIn("glovebox", left)

    def test_an_image_that_no_engine_has(self):
        answer = self.look("podman:localhost/glovebox-never-was")
        self.assertEqual(answer["status"], "setup_failed", answer)
        self.assertIn("SANDBOX_CONTAINER_IMAGE names 'podman:localhost/glovebox-never-was'",
                      answer["error"])
        self.assertIn("image not known", answer["error"])


if __name__ == "__main__":
    if os.geteuid() != 0:
        print("containers need root: skipped")
        sys.exit(1 if os.environ.get("GLOVEBOX_MUST_ISOLATE") else 0)
    unittest.main()
