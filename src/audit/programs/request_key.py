# Makes the kernel start a helper on the host when the key is unknown.
reached(call("request_key", b"user", tag.encode(), None, 0))
