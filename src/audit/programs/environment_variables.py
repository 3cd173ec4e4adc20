# The environment variables of whoever started this.
import os
answer(sorted(name for name in ("USER", "HOME", "PATH", "PYTHONPATH") if name in os.environ))
print(dict(os.environ))
