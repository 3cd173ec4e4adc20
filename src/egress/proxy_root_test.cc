#include "egress/proxy_root.h"

#include <gtest/gtest.h>

namespace glovebox::egress {
namespace {

TEST(ProxyRoot, AsksForNoOtherNameThanTheOneThatWasJudged) {
  EXPECT_EQ(ResolverText("# made by somebody\nsearch corp.example\ndomain corp.example\n"
                         "nameserver 10.0.0.53\n options edns0\n"),
            "nameserver 10.0.0.53\noptions edns0\nsearch .\noptions timeout:3 attempts:2\n");
}

}  // namespace
}  // namespace glovebox::egress
