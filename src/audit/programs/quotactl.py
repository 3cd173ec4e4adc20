# With a command that does not exist.
reached(call("quotactl", 0x7f000000, b"/dev/no-such-device", 0, None))
