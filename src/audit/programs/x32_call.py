# getpid by the other table of numbers: the filter ends the process, or we get past it.
print(call(0x40000000 | 39))
achieved()
