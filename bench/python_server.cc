// The yardstick for boxes: CPython kept warm, with nothing around it.
//
//   python_server fork SOCKET [MODULE...]      every request in a fork of its own
//   python_server reuse SOCKET [MODULE...]     every request in this one interpreter
//
// Imports the modules, listens on the Unix socket SOCKET and answers a connection per request:
// reads code until the other side has said all, runs it with the connection as standard output,
// closes. Ends with its standard input.

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

namespace {

bool StartPython(char** modules) {
  PyConfig config;
  PyConfig_InitIsolatedConfig(&config);
  config.site_import = 0;
  config.write_bytecode = 0;
  PyConfig_SetString(&config, &config.home, L"/usr");
  PyConfig_SetString(&config, &config.program_name, L"python3");
  const PyStatus status = Py_InitializeFromConfig(&config);
  PyConfig_Clear(&config);
  if (PyStatus_Exception(status) != 0) return false;
  if (PyRun_SimpleString("import sys; sys.path.append('/usr/lib/python3/dist-packages')") != 0) {
    return false;
  }
  for (char** module = modules; *module != nullptr; ++module) {
    PyObject* imported = PyImport_ImportModule(*module);
    if (imported == nullptr) {
      PyErr_Print();
      return false;
    }
    Py_DECREF(imported);
  }
  return PyRun_SimpleString("import gc; gc.collect(); gc.freeze()") == 0;
}

int Listen(const char* path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (std::strlen(path) >= sizeof(address.sun_path)) return -1;
  std::strcpy(address.sun_path, path);
  const int listener = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (listener < 0 ||
      ::bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof(address)) < 0 ||
      ::listen(listener, SOMAXCONN) < 0) {
    return -1;
  }
  return listener;
}

// Answers one connection.
void Answer(int connection) {
  std::string code;
  std::array<char, 4096> buffer{};
  for (ssize_t got = 0; (got = ::read(connection, buffer.data(), buffer.size())) > 0;) {
    code.append(buffer.data(), static_cast<std::size_t>(got));
  }
  ::dup2(connection, STDOUT_FILENO);
  PyRun_SimpleString(code.c_str());
  PyRun_SimpleString("sys.stdout.flush()");
  ::shutdown(connection, SHUT_RDWR);  // the client need not wait for our end
}

void Serve(int listener, bool forks) {
  while (true) {
    std::array<pollfd, 2> waiting{{{listener, POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}}};
    if (::poll(waiting.data(), waiting.size(), -1) < 0) return;
    if (waiting[1].revents != 0) return;
    const int connection = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection < 0) return;
    if (!forks) {
      Answer(connection);
    } else {
      PyOS_BeforeFork();
      const pid_t child = ::fork();
      if (child == 0) {
        PyOS_AfterFork_Child();
        Answer(connection);
        ::_exit(0);
      }
      PyOS_AfterFork_Parent();
    }
    ::close(connection);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view mode = argc < 3 ? "" : argv[1];
  if (mode != "fork" && mode != "reuse") {
    std::fprintf(stderr, "usage: python_server fork|reuse SOCKET [MODULE...]\n");
    return 2;
  }
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGCHLD, SIG_IGN);  // the kernel reaps
  if (!StartPython(argv + 3)) return 1;
  const int listener = Listen(argv[2]);
  if (listener < 0) {
    std::perror(argv[2]);
    return 1;
  }
  Serve(listener, mode == "fork");
  return 0;
}
