# A host process gets fewer descriptors.
import resource
resource.prlimit(victim_pid, resource.RLIMIT_NOFILE, (123, 1024))
