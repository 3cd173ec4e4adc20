#include "python/wire/zygote.h"

#include "python/wire/codec.h"

namespace glovebox::wire {
namespace {

constexpr std::uint32_t kListMax = 1u << 16;  // of any list in these messages; a bug, if reached

void WriteLandlock(Writer& writer, const LandlockSetup& landlock) {
  writer.Number(landlock.handled_fs);
  writer.Number(landlock.handled_net);
  writer.Number(landlock.scoped);
  writer.List(landlock.rules, [&](const auto& rule) {
    writer.Text(rule.first);
    writer.Number(rule.second);
  });
}

LandlockSetup ReadLandlock(Reader& reader) {
  LandlockSetup landlock;
  landlock.handled_fs = reader.Number<std::uint64_t>();
  landlock.handled_net = reader.Number<std::uint64_t>();
  landlock.scoped = reader.Number<std::uint64_t>();
  reader.List(kListMax, [&] {
    std::string path = reader.Text();
    landlock.rules.emplace_back(std::move(path), reader.Number<std::uint64_t>());
  });
  return landlock;
}

}  // namespace

std::string Encode(const ZygoteSetup& setup) {
  Writer writer;
  writer.Number(setup.walls);
  writer.Number(setup.identity);
  writer.Number(static_cast<std::uint8_t>(setup.namespaces ? 1 : 0));
  writer.Text(setup.stdlib);
  writer.List(setup.module_paths, [&](const std::string& text) { writer.Text(text); });
  writer.List(setup.preimports, [&](const std::string& text) { writer.Text(text); });
  writer.Flag(setup.rehearse);
  writer.Number(setup.makers);
  writer.Text(setup.work_folder);
  writer.Text(setup.host_name);
  writer.Number(setup.inner_uid);
  writer.List(setup.tmpfs, [&](const TmpfsSetup& tmpfs) {
    writer.Text(tmpfs.path);
    writer.Text(tmpfs.size);
    writer.Text(tmpfs.inodes);
  });
  writer.List(setup.rlimits, [&](const auto& limit) {
    writer.Number(limit.first);
    writer.Number(limit.second);
  });
  WriteLandlock(writer, setup.landlock);
  writer.Number(setup.own_folder_rights);
  writer.List(setup.filter, [&](const sock_filter& instruction) {
    writer.Number(instruction.code);
    writer.Number(instruction.jt);
    writer.Number(instruction.jf);
    writer.Number(instruction.k);
  });
  writer.List(setup.network_ports, [&](std::uint16_t port) { writer.Number(port); });
  return std::move(writer).Take();
}

std::optional<ZygoteSetup> DecodeZygoteSetup(std::string_view payload) {
  Reader reader(payload);
  ZygoteSetup setup;
  setup.walls = reader.Number<std::uint32_t>();
  setup.identity = reader.Number<std::uint8_t>();
  setup.namespaces = reader.Number<std::uint8_t>() != 0;
  setup.stdlib = reader.Text();
  reader.List(kListMax, [&] { setup.module_paths.push_back(reader.Text()); });
  reader.List(kListMax, [&] { setup.preimports.push_back(reader.Text()); });
  setup.rehearse = reader.Flag();
  setup.makers = reader.Number<std::uint8_t>();
  setup.work_folder = reader.Text();
  setup.host_name = reader.Text();
  setup.inner_uid = reader.Number<std::uint32_t>();
  reader.List(kListMax, [&] {
    TmpfsSetup tmpfs;
    tmpfs.path = reader.Text();
    tmpfs.size = reader.Text();
    tmpfs.inodes = reader.Text();
    setup.tmpfs.push_back(std::move(tmpfs));
  });
  reader.List(kListMax, [&] {
    const auto resource = reader.Number<std::int32_t>();
    setup.rlimits.emplace_back(resource, reader.Number<std::uint64_t>());
  });
  setup.landlock = ReadLandlock(reader);
  setup.own_folder_rights = reader.Number<std::uint64_t>();
  reader.List(kListMax, [&] {
    sock_filter instruction;
    instruction.code = reader.Number<decltype(instruction.code)>();
    instruction.jt = reader.Number<decltype(instruction.jt)>();
    instruction.jf = reader.Number<decltype(instruction.jf)>();
    instruction.k = reader.Number<decltype(instruction.k)>();
    setup.filter.push_back(instruction);
  });
  reader.List(kListMax, [&] { setup.network_ports.push_back(reader.Number<std::uint16_t>()); });
  if (!reader.finished()) return std::nullopt;
  return setup;
}

std::string Encode(const ZygoteReady& ready) {
  Writer writer;
  writer.Text(ready.error);
  writer.Number(ready.import_seconds);
  return std::move(writer).Take();
}

std::optional<ZygoteReady> DecodeZygoteReady(std::string_view payload) {
  return DecodeWhole<ZygoteReady>(payload, [](Reader& reader, ZygoteReady& ready) {
    ready.error = reader.Text();
    ready.import_seconds = reader.Number<double>();
  });
}

std::string Encode(const SpawnBox& spawn) {
  Writer writer;
  writer.Number(spawn.box_id);
  writer.Number(spawn.uid);
  writer.Flag(spawn.into_cgroup);
  writer.Number(static_cast<std::uint8_t>(spawn.rehearsal));
  writer.Number(spawn.cpu);
  writer.Text(spawn.folder);
  writer.Flag(spawn.network);
  return std::move(writer).Take();
}

std::optional<SpawnBox> DecodeSpawnBox(std::string_view payload) {
  return DecodeWhole<SpawnBox>(payload, [](Reader& reader, SpawnBox& spawn) {
    spawn.box_id = reader.Number<std::uint64_t>();
    spawn.uid = reader.Number<std::uint32_t>();
    spawn.into_cgroup = reader.Flag();
    spawn.rehearsal = static_cast<Rehearsal>(reader.Number<std::uint8_t>());
    spawn.cpu = reader.Number<std::int32_t>();
    spawn.folder = reader.Text();
    spawn.network = reader.Flag();
  });
}

std::string Encode(const BoxBorn& born) {
  Writer writer;
  writer.Number(born.box_id);
  writer.Number(born.sys_errno);
  return std::move(writer).Take();
}

std::optional<BoxBorn> DecodeBoxBorn(std::string_view payload) {
  return DecodeWhole<BoxBorn>(payload, [](Reader& reader, BoxBorn& born) {
    born.box_id = reader.Number<std::uint64_t>();
    born.sys_errno = reader.Number<std::int32_t>();
  });
}

}  // namespace glovebox::wire
