# A file in /tmp.
path = "/tmp/sandbox_test-" + tag + ".txt"
with open(path, "w") as file:
    file.write("This is a test")
answer("wrote to /tmp/sandbox_test.txt")
