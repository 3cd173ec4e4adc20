#pragma once

#include <string>

#include "base/result.h"

namespace glovebox::container {

// Where images are kept that had to be unpacked: CACHE/sha256-DIGEST/rootfs, one for every digest,
// for every server of this host. Nothing in it is ever changed; what no server uses may be removed.
inline constexpr char kImageCache[] = "/var/cache/glovebox/images";

// A root file system for containers.
struct Image {
  std::string folder;  // empty: none, containers are made of the host's files
  bool ours = false;   // it lies in the cache: what is to be mounted gets a place there
};

// The image that a setting names:
//   /FOLDER                    an unpacked root file system, used as it is
//   /FOLDER, /FOLDER:NAME      an OCI image layout: its only image, or the one of that name
//   NAME                       what podman has under that name, or else docker
//   podman:NAME, docker:NAME   of that engine only
// Layouts and engines' images are unpacked into `cache` unless they are there; nothing is ever
// fetched from elsewhere. That blocks, for minutes if the image is large. An error names what is
// wrong, the rule and the fix; a half-unpacked image is never used.
Result<Image> OpenImage(const std::string& setting, const std::string& cache);

}  // namespace glovebox::container
