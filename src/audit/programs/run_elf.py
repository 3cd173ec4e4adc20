# A program of our own.
run_file("/tmp/program-" + tag, tiny_elf(nonce))
