#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

namespace glovebox::doctor {

// The absolute path of a program in PATH, or nothing.
std::string FindProgram(const std::string& name);

// Programs of the host that are asked something, all at once: each is started
// with its arguments and its first kAnswerBytesMax bytes of stdout are kept.
//
// Thread rule: the thread that runs the io_context, which must outlive this
// object.
class ProgramAnswers {
 public:
  static constexpr std::size_t kAnswerBytesMax = 65536;

  explicit ProgramAnswers(boost::asio::io_context& context);
  ~ProgramAnswers();  // kills who still has not answered
  ProgramAnswers(const ProgramAnswers&) = delete;
  ProgramAnswers& operator=(const ProgramAnswers&) = delete;

  // Starts it; the number is its place in answers(). One that cannot be started
  // answers nothing.
  std::size_t Ask(std::vector<std::string> argv);

  // Runs the io_context until everybody has answered or `patience` is over.
  void Await(std::chrono::milliseconds patience);

  // What it said; empty when it failed or was too slow.
  const std::string& answer(std::size_t number) const;

 private:
  struct Question;
  boost::asio::io_context& context_;
  std::vector<std::shared_ptr<Question>> questions_;
};

}  // namespace glovebox::doctor
