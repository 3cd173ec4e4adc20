# Takes groups.
os.setgroups([0, 6])
achieved()
