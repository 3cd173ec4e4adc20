"""A flood by one client does not slow another one's p50 by more than a factor of two."""
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import unittest

from http_server import Server, environment

FLOODER, QUIET = "f" * 32, "q" * 32
FACTOR_MAX = 2
FLOOD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "flood.py")


class Flood:
    def __init__(self, server, connections, code):
        self.process = subprocess.Popen(
            [sys.executable, "-B", FLOOD, str(server.port), server.path, FLOODER, str(connections),
             code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment())

    def stop(self):
        return json.loads(self.process.communicate(timeout=60)[0])


class Fairness(unittest.TestCase):
    def setUp(self):
        self.tokens = tempfile.NamedTemporaryFile("w")
        os.chmod(self.tokens.name, 0o600)
        self.tokens.write(f"flooder {FLOODER}\nquiet {QUIET}\n")
        self.tokens.flush()
        self.server = Server("--token-file", self.tokens.name)

    def tearDown(self):
        self.server.close()
        self.tokens.close()

    def p50_ms(self, seconds):
        """Of a client that calls, thinks a moment, and calls again, on one connection."""
        times, end = [], time.monotonic() + seconds
        with self.server.connect() as connection:
            while time.monotonic() < end:
                started = time.monotonic()
                answer = self.server.call("execute_code", {"code": "print(2 + 2)"}, token=QUIET,
                                          connection=connection)
                times.append(time.monotonic() - started)
                self.assertEqual(answer["stdout"], "4\n")
                time.sleep(0.02)
        return statistics.median(times) * 1000

    def check(self, connections, code):
        self.p50_ms(1)  # warm
        quiet = self.p50_ms(3)
        flood = Flood(self.server, connections, code)
        self.p50_ms(3)  # until the burst is used up
        flooded = self.p50_ms(5)
        counts = flood.stop()
        after = self.p50_ms(3)
        print(f"\n{connections} connections with {code!r}: p50 {quiet:.2f} ms before, "
              f"{flooded:.2f} ms during, {after:.2f} ms after; the flood saw {counts}")
        self.assertGreater(counts.get("200", 0), 0, "the flooder is served within its share")
        self.assertGreater(counts.get("429", 0), 100, "and refused beyond it")
        self.assertEqual(counts["retry-after"], counts["429"])
        self.assertLessEqual(flooded, FACTOR_MAX * max(quiet, after))

    def test_a_flood_of_small_calls(self):
        self.check(64, "print(1)")

    def test_a_flood_of_long_calls(self):
        self.check(64, "import time; time.sleep(1)")


if __name__ == "__main__":
    unittest.main(verbosity=2)
