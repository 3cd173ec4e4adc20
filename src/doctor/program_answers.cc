#include "doctor/program_answers.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/read.hpp>

#include "base/text.h"
#include "transport/child_process.h"

namespace glovebox::doctor {

namespace asio = boost::asio;

struct ProgramAnswers::Question {
  explicit Question(asio::io_context& context) : output(context) {}

  asio::posix::stream_descriptor output;
  std::unique_ptr<ChildProcess> program;
  std::string answer;
  bool ended = true;  // the program
  bool read = true;   // its output
  bool failed = false;

  bool over() const { return ended && read; }
};

std::string FindProgram(const std::string& name) {
  // One thread. NOLINTNEXTLINE(concurrency-mt-unsafe)
  const char* path = std::getenv("PATH");
  const std::string folders = path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin";
  for (const std::string_view folder : Split(folders, ':')) {
    if (!folder.starts_with('/')) continue;
    std::string candidate = std::string(folder) + "/" + name;
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return {};
}

ProgramAnswers::ProgramAnswers(asio::io_context& context) : context_(context) {}

ProgramAnswers::~ProgramAnswers() {
  // Their handlers hold the questions; only the programs have to go now.
  for (const auto& question : questions_) {
    boost::system::error_code ignored;
    question->output.close(ignored);
    question->program.reset();
  }
}

std::size_t ProgramAnswers::Ask(std::vector<std::string> argv) {
  auto question = std::make_shared<Question>(context_);
  questions_.push_back(question);
  auto program =
      ChildProcess::Start(context_, {.argv = std::move(argv), .environment = MinimalEnvironment()});
  if (!program) return questions_.size() - 1;
  question->program = std::move(*program);
  question->program->TakeInput().reset();
  question->output.assign(question->program->TakeOutput().release());
  question->answer.resize(kAnswerBytesMax);
  question->ended = question->read = false;
  question->program->OnExit([question](const ChildExit& end) {
    question->ended = true;
    question->failed = end.by_signal || end.code != 0;
  });
  asio::async_read(question->output, asio::buffer(question->answer),
                   [question](const boost::system::error_code&, std::size_t size) {
                     question->answer.resize(size);
                     question->read = true;
                   });
  return questions_.size() - 1;
}

void ProgramAnswers::Await(std::chrono::milliseconds patience) {
  const auto end = std::chrono::steady_clock::now() + patience;
  const auto waiting = [this] {
    return std::any_of(questions_.begin(), questions_.end(),
                       [](const auto& question) { return !question->over(); });
  };
  while (waiting() && context_.run_one_until(end) > 0) {
  }
  for (const auto& question : questions_) {
    if (!question->over() || question->failed) question->answer.clear();
  }
}

const std::string& ProgramAnswers::answer(std::size_t number) const {
  return questions_[number]->answer;
}

}  // namespace glovebox::doctor
