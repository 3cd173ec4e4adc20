# Reads the local descriptor table.
reached(call("modify_ldt", 0, ctypes.create_string_buffer(64), 64))
