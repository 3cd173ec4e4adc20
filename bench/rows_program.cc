#include "program.h"
#include "rows.h"

namespace glovebox::bench {

void AddProgramRows(Rows& rows, const Places& places) {
  rows.Add({.name = "bare python3 -I -S", .state = "fresh process", .walls = "none", .once = [] {
              return RunProgram({"/usr/bin/python3", "-I", "-S", "-c", kPrint.code}, kPrint.output);
            }});
  rows.Add({.name = "bare python3 -I",
            .workload = &kFrame,
            .state = "fresh process",
            .walls = "none",
            .every = kSeldom,
            .calls = 1,
            .once = [] {
              return RunProgram({"/usr/bin/python3", "-I", "-c", kFrame.code}, kFrame.output);
            }});
  rows.AddPeer({.name = "bubblewrap",
                .state = "fresh process",
                .walls = "all namespaces, read-only root; no limits, no filter",
                .once = [] {
                  return RunProgram(
                      {"/usr/bin/bwrap", "--unshare-all", "--ro-bind", "/", "/", "--proc", "/proc",
                       "--dev", "/dev", "--", "/usr/bin/python3", "-I", "-S", "-c", kPrint.code},
                      kPrint.output);
                }});
  rows.Add({.name = "glovebox exec, cold",
            .state = "fresh zygote and box",
            .walls = "every wall",
            .once = [glovebox = places.glovebox] {
              return RunProgram({glovebox, "exec", "-c", kPrint.code}, kPrint.output);
            }});
}

}  // namespace glovebox::bench
