# A POSIX message queue of the host.
queue = call("mq_open", mq_name.encode(), os.O_WRONLY | os.O_NONBLOCK, 0, None)
print(queue, call("mq_timedsend", queue, b"hello", 5, 0, None))
