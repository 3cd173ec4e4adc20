# Make a mount writable again. The size is wrong: no attribute is changed.
reached(call("mount_setattr", -100, b"/", 0, ctypes.create_string_buffer(64), 1))
