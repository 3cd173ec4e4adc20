# A host process becomes the first to die when memory is short. Reset by the harness.
open("/proc/%d/oom_score_adj" % victim_pid, "w").write("37")
