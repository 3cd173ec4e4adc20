# A named pipe that somebody may open one day.
os.mkfifo(host_dir + "/fifo")
