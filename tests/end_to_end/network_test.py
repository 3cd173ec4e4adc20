"""The profile network: what it reaches, what it does not, and what the results say of both.

Servers of the test stand on this machine's loopback; the names by which they are known are in an
/etc/hosts that only the tested server sees.
"""
import http.server
import os
import pathlib
import ssl
import subprocess
import sys
import tempfile
import textwrap
import threading
import unittest

from http_server import GLOVEBOX, SOURCES, environment

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "packaging"))
from stdio_client import INITIALIZE, StdioServer  # noqa: E402: found by the line above

HOSTS = "127.0.0.1 localhost service.example other.example\n"
WITH_HOSTS = 'mount --bind "$0" /etc/hosts && exec "$@"'


class Pages(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        moved = self.server.moved_to if self.path == "/moved" else None
        self.send_response(302 if moved else 200)
        if moved:
            self.send_header("Location", moved)
        body = f"page {self.path}".encode()
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.server.asked.append(self.path)

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.end_headers()
        self.wfile.write(body[::-1])

    def log_message(self, *_):
        pass


def serve(certificate=None):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    server.asked, server.moved_to = [], None
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


@unittest.skipUnless(os.geteuid() == 0, "an /etc/hosts of its own needs root")
class Network(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        hosts = pathlib.Path(cls.folder.name, "hosts")
        hosts.write_text(HOSTS)
        certificate = pathlib.Path(cls.folder.name, "both.pem")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
                        "-subj", "/CN=service.example", "-keyout", certificate, "-out",
                        f"{certificate}.crt"], check=True, capture_output=True)
        with certificate.open("a") as file:
            file.write(pathlib.Path(f"{certificate}.crt").read_text())
        cls.web, cls.secret, cls.tls = serve(), serve(), serve(certificate)
        cls.port, cls.tls_port = cls.web.server_port, cls.tls.server_port
        cls.box = cls.start(f"service.example:{cls.port}, 127.0.0.1:{cls.port},"
                            f"service.example:{cls.tls_port}, 127.0.0.1:{cls.tls_port}")

    @classmethod
    def start(cls, rules):
        server = StdioServer(["unshare", "--mount", "sh", "-c", WITH_HOSTS,
                              os.path.join(cls.folder.name, "hosts"), GLOVEBOX, "serve", *SOURCES],
                             environment(SANDBOX_ENABLE_NETWORK="true",
                                         SANDBOX_ALLOWED_HOSTS=rules))
        cls.addClassCleanup(server.__exit__)
        server.ask("initialize", INITIALIZE)
        return server

    def run_code(self, code, server=None, profile="network+full"):
        answer = (server or self.box).ask("tools/call", {"name": "execute_code", "arguments": {
            "code": textwrap.dedent(code), "profile": profile}})
        return answer["structuredContent"]

    def events(self, answer, source="egress"):
        return [event for event in answer["security_events"] if event["source"] == source]

    def test_urllib_reaches_an_allowed_host(self):
        answer = self.run_code(f"""
            import urllib.request
            print(urllib.request.urlopen("http://service.example:{self.port}/a?b=c").read())
            request = urllib.request.Request("http://service.example:{self.port}/", b"12345")
            print(urllib.request.urlopen(request).read())
            """, profile="network")
        self.assertIn("page /a?b=c", answer["stdout"], answer)
        self.assertIn("54321", answer["stdout"])
        events = self.events(answer)
        self.assertEqual(len(events), 2, events)
        for event in events:
            self.assertEqual(event["target"], f"service.example:{self.port}")
            self.assertFalse(event["refused"])
            self.assertEqual(event["rule"], f"service.example:{self.port}")
            self.assertGreater(event["bytes_sent"], 50)
            self.assertGreater(event["bytes_received"], 5)
        self.assertEqual(self.events(answer, "kernel"), [])

    def test_clients_that_know_no_proxy_reach_it_by_its_name(self):
        answer = self.run_code(f"""
            import http.client, socket
            client = http.client.HTTPConnection("service.example", {self.port}, timeout=10)
            client.request("GET", "/direct")
            print(client.getresponse().read())
            raw = socket.create_connection(("service.example", {self.port}), timeout=10)
            raw.sendall(b"GET /raw HTTP/1.0\\r\\nHost: service.example:{self.port}\\r\\n\\r\\n")
            print(raw.makefile("rb").read()[-9:])
            """)
        self.assertIn("page /direct", answer["stdout"], answer)
        self.assertIn("page /raw", answer["stdout"])
        self.assertEqual([event["operation"] for event in self.events(answer)],
                         ["connect (direct)", "connect (direct)"])

    def test_requests_reaches_it(self):
        answer = self.run_code(f"""
            import requests
            print(requests.get("http://service.example:{self.port}/requests").text)
            """)
        if answer.get("error_type") == "ModuleNotFoundError":
            self.skipTest("requests is not installed")
        self.assertIn("page /requests", answer["stdout"], answer)

    def test_tls_must_name_the_host(self):
        answer = self.run_code(f"""
            import http.client, ssl, urllib.request
            context = ssl.create_default_context()
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            url = "https://service.example:{self.tls_port}/tls"
            print(urllib.request.urlopen(url, context=context, timeout=10).read())
            import socket
            raw = socket.create_connection(("service.example", {self.tls_port}), timeout=10)
            try:
                context.wrap_socket(raw, server_hostname="other.example")
                print("OPEN")
            except OSError as error:
                print("closed", type(error).__name__)
            """)
        self.assertIn("page /tls", answer["stdout"], answer)
        self.assertIn("closed", answer["stdout"])
        self.assertNotIn("OPEN", answer["stdout"])
        refused = [event for event in self.events(answer) if event["refused"]]
        self.assertEqual(len(refused), 1, answer["security_events"])
        self.assertIn("names another server (SNI) than service.example", refused[0]["rule"])

    def test_other_hosts_are_refused_in_words(self):
        place = f"127.0.0.1:{self.secret.server_port}"
        answer = self.run_code(f"""
            import urllib.request, urllib.error
            for url in ["http://{place}/", "http://other.example:{self.port}/",
                        "http://localhost:{self.secret.server_port}/"]:
                try:
                    urllib.request.urlopen(url, timeout=10)
                    print("OPEN", url)
                except urllib.error.HTTPError as error:
                    print(error.code, error.read().decode())
            """)
        self.assertNotIn("OPEN", answer["stdout"])
        self.assertIn(f"403 glovebox egress: {place} was refused: no rule for 127.0.0.1 names port",
                      answer["stdout"])
        self.assertIn(f"add {place} to SANDBOX_ALLOWED_HOSTS", answer["stdout"])
        self.assertEqual([event["refused"] for event in self.events(answer)], [True] * 3)
        self.assertIn(f"add {place} to", self.events(answer)[0]["remedy"])
        self.assertEqual(self.secret.asked, [])

    def test_a_redirect_is_judged_like_anything_else(self):
        self.web.moved_to = f"http://127.0.0.1:{self.secret.server_port}/"
        answer = self.run_code(f"""
            import urllib.request, urllib.error
            try:
                urllib.request.urlopen("http://service.example:{self.port}/moved", timeout=10)
                print("OPEN")
            except urllib.error.HTTPError as error:
                print(error.code)
            """)
        self.assertIn("403", answer["stdout"], answer)
        self.assertEqual(self.secret.asked, [])

    def test_a_program_that_dials_by_itself_is_told_how(self):
        answer = self.run_code("""
            import socket
            for family, place in [(socket.AF_INET, ("10.0.0.1", 80)),
                                  (socket.AF_INET6, ("2001:db8::1", 443))]:
                try:
                    socket.socket(family).connect(place)
                    print("OPEN")
                except OSError as error:
                    print(error)
            for kind in [socket.SOCK_DGRAM, socket.SOCK_RAW]:
                try:
                    socket.socket(socket.AF_INET, kind)
                    print("OPEN")
                except OSError as error:
                    print(error)
            """)
        self.assertEqual(answer["stdout"].count("Network is unreachable"), 2, answer)
        self.assertNotIn("OPEN", answer["stdout"])
        events = self.events(answer, "kernel")
        self.assertEqual([event["target"] for event in events if event["operation"] == "connect"],
                         ["10.0.0.1:80", "[2001:db8::1]:443"], events)
        self.assertEqual(events[0]["layer"], "net namespace")
        self.assertIn("SANDBOX_ALLOWED_HOSTS", events[0]["remedy"])

    def test_without_hosts_nothing_is_reached(self):
        server = self.start("")
        answer = self.run_code(f"""
            import urllib.request
            urllib.request.urlopen("http://127.0.0.1:{self.port}/never", timeout=10)
            """, server)
        self.assertIn("403", answer["error"], answer)
        self.assertNotIn("/never", self.web.asked)

    def test_other_profiles_have_no_sockets(self):
        answer = self.run_code("import socket; socket.socket()", profile="full")
        self.assertFalse(answer["success"])
        self.assertEqual(answer["error_type"], "PermissionError")

    def test_bad_rules_are_refused_at_the_start(self):
        ended = subprocess.run([GLOVEBOX, "serve", *SOURCES], input="", capture_output=True,
                               text=True, timeout=60, check=False,
                               env=environment(SANDBOX_ENABLE_NETWORK="true",
                                               SANDBOX_ALLOWED_HOSTS="*"))
        self.assertNotEqual(ended.returncode, 0)
        self.assertIn("SANDBOX_ALLOWED_HOSTS: '*'", ended.stderr)


if __name__ == "__main__":
    unittest.main()
