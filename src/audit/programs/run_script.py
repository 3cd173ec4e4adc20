# A script of our own.
run_file("/tmp/script-" + tag, b"#!/bin/sh\necho " + nonce.encode() + b"\n")
