# What lies beneath multiprocessing's spawn and its helpers.
import multiprocessing.util
child = multiprocessing.util.spawnv_passfds(
    printf[0].encode(), [word.encode() for word in printf], [1])
os.waitpid(child, 0)
