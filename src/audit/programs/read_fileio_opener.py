# FileIO with an opener of our own.
import io
print(io.FileIO(secret_path, opener=lambda path, flags: os.open(path, flags)).readall().decode())
