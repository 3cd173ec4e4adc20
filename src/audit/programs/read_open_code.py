# The function meant for loading code.
import io
print(io.open_code(secret_path).read().decode())
