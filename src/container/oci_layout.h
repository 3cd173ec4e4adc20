#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace glovebox::container {

// A file of an image layout, as the one that refers to it describes it.
struct Blob {
  std::string path;
  std::string digest;  // "sha256:" and 64 hex digits
  std::uint64_t size = 0;
  std::string media_type;
};

struct LayoutImage {
  std::string digest;        // of its manifest
  std::vector<Blob> layers;  // the lowest first
};

// Whether `folder` says of itself that it is an OCI image layout.
bool IsLayout(const std::string& folder);

// The image for this machine in an OCI image layout (image specification 1.0): the one that is
// called `reference` (org.opencontainers.image.ref.name), or the only one where that is empty.
// Everything that is read is compared with its digest; layers are only looked at by VerifyBlob.
// What is missing, broken or not unambiguous is kInvalidArgument, with the file and the rule.
Result<LayoutImage> ReadLayout(const std::string& folder, const std::string& reference);

// Reads the whole of it: whether its size and its digest are those it should have.
Status VerifyBlob(const Blob& blob);

}  // namespace glovebox::container
