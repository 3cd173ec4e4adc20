# Children that stay, until no more can be made. Bounded, for the sake of the cage.
mark()
children = 0
try:
    while children < processes_wanted:
        if os.fork() == 0:
            time.sleep(20)
            os._exit(0)
        children += 1
except OSError as error:
    print("stopped at", children, error)
time.sleep(0.3)
