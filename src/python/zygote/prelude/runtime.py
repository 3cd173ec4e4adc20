"""What surrounds user code in the box: compiles it, runs it as __main__, tells how it ended.

Nothing here is a boundary. User code can reach and change all of it; what the server relies on is
measured outside. Loaded once in the zygote, before any fork; imports as little as possible because
`glovebox exec` starts from nothing every time.
"""
import atexit
import builtins
import gc
import posix
import sys

_HERE = __file__  # how frames of this file are recognised
_ALLOW_TOP_LEVEL_AWAIT = 0x2000
_ONLY_AST = 0x400
_IS_COROUTINE = 0x80

_main = sys.modules["__main__"]
_pristine = dict(_main.__dict__)  # what __main__ holds before any user code
_not_made = {*_pristine, "__file__"}  # names in it that a program did not make
_sources = {}  # file name -> the code that was run under it, as it came


# --- adjustments to modules, made when and if they are imported -----------------------------------


_NOT_READ = (None,)  # linecache's mark of lines that are there, and read when asked for


def _serve_sources(linecache):
    """Tracebacks show source lines although the source is no file."""
    read_file = linecache.updatecache

    def updatecache(filename, module_globals=None):
        source = _sources.get(filename)
        if source is None:
            return read_file(filename, module_globals)
        try:
            text = source.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = source.decode("latin-1")
        lines = [line + "\n" for line in text.replace("\r\n", "\n").split("\n")]
        linecache.cache[filename] = (len(text), None, lines, filename)
        return lines

    linecache.updatecache = updatecache
    for filename in _sources:
        linecache.cache[filename] = _NOT_READ


def _keep_tracker_in_process(resource_tracker):
    """multiprocessing's resource tracker is a program of its own, and no program can run here. What
    it would clean up lives on the box's private /dev/shm and ends with it."""
    tracker = resource_tracker.ResourceTracker
    tracker.ensure_running = lambda self: None
    tracker.getfd = lambda self: -1
    tracker._send = lambda self, cmd, name, rtype: None
    for name in ("ensure_running", "register", "unregister", "getfd"):
        setattr(resource_tracker, name, getattr(resource_tracker._resource_tracker, name))


def _show_source_of_threads(threading):
    """The interpreter's own printer looks for a file; the traceback module asks linecache."""

    def excepthook(arguments):
        if arguments.exc_type is SystemExit:
            return
        import traceback

        name = getattr(arguments.thread, "name", "?")
        print(f"Exception in thread {name}:", file=sys.stderr)
        report = traceback.TracebackException(arguments.exc_type, arguments.exc_value,
                                              arguments.exc_traceback, compact=True)
        _keep_users_frames(report, set())
        print("".join(report.format()), end="", file=sys.stderr)

    threading.excepthook = excepthook


def _find_fonts_by_folder(font_manager, loader):
    """matplotlib asks fc-list for fonts while it is imported, and no program can run here. It looks
    into the folders of fonts anyway."""
    import subprocess

    def refuse(*args, **kwargs):
        raise FileNotFoundError("a box has no fc-list")

    check_output, subprocess.check_output = subprocess.check_output, refuse
    try:
        loader.exec_module(font_manager)
    finally:
        subprocess.check_output = check_output


def _find_libraries_by_name(util):
    """ctypes.util asks ldconfig, gcc and ld, and no program can run here. The libraries of a box
    lie in one folder."""

    def find_library(name):
        for folder in ("/usr/lib/" + sys.implementation._multiarch, "/usr/lib"):
            try:
                files = sorted(posix.listdir(folder), key=len)
            except OSError:
                continue
            for file in files:
                if file.startswith(f"lib{name}.so."):
                    return file
        return None

    util.find_library = find_library


def _seed_without_python(random, loader):
    """`random` has itself seeded anew in each fork by a method in Python, whose objects lie on a
    dozen pages that nothing else in a box writes to. Here by what that method comes down to."""
    import os

    register = os.register_at_fork

    def register_others(**handlers):
        if getattr(handlers.get("after_in_child"), "__name__", None) != "seed":
            register(**handlers)

    os.register_at_fork = register_others
    try:
        loader.exec_module(random)
    finally:
        os.register_at_fork = register
    shared = random._inst
    seed = super(random.Random, shared).seed

    def reseed():
        seed()
        shared.gauss_next = None

    register(after_in_child=reseed)


_adjustments = {
    "ctypes.util": _find_libraries_by_name,
    "linecache": _serve_sources,
    "matplotlib.font_manager": _find_fonts_by_folder,
    "random": _seed_without_python,
    "threading": _show_source_of_threads,
    "multiprocessing.resource_tracker": _keep_tracker_in_process,
}
# Those that are adjusted before they have run: the adjustment runs them.
_adjusted_from_outside = {"matplotlib.font_manager", "random"}


class _AdjustingLoader:
    def __init__(self, loader, adjust):
        self._loader = loader
        self._adjust = adjust

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        module.__spec__.loader = module.__loader__ = self._loader
        if module.__name__ in _adjusted_from_outside:
            return self._adjust(module, self._loader)
        self._loader.exec_module(module)
        self._adjust(module)


class _AdjustingFinder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        adjust = _adjustments.pop(name, None)
        if adjust is None:
            return None
        for finder in sys.meta_path:
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                spec.loader = _AdjustingLoader(spec.loader, adjust)
                return spec
        return None


# --- set-up, in the zygote ------------------------------------------------------------------------


def set_up(refuse_programs):
    """Called once. `refuse_programs` says whether the interpreter refuses what the kernel would."""
    sys.meta_path.insert(0, _AdjustingFinder)
    # Line by line, so that what was printed before a crash has left the process.
    sys.stdout.reconfigure(line_buffering=True)
    import _sitebuiltins

    builtins.exit = _sitebuiltins.Quitter("exit", "Ctrl-D (i.e. EOF)")
    builtins.quit = _sitebuiltins.Quitter("quit", "Ctrl-D (i.e. EOF)")
    builtins.help = _sitebuiltins._Helper()
    builtins.copyright = _sitebuiltins._Printer("copyright", sys.copyright)
    builtins.credits = builtins.license = _sitebuiltins._Printer("credits", "See python.org.")
    if refuse_programs:
        import _posixsubprocess

        _posixsubprocess.fork_exec = _refuse_program


def _refuse_program(*args, **kwargs):
    # subprocess and multiprocessing's spawn both end up here.
    raise PermissionError(
        1, "a box cannot run programs (nothing allows it); use Python, threads, or "
        "multiprocessing with the 'fork' start method")


def reseed_numpy():
    """Called once in the new box, where numpy is imported ahead: nothing random may repeat what a
    sibling gets. The standard library's generators reseed themselves; numpy's global one does not.
    """
    key = sys.modules["numpy"].frombuffer(posix.urandom(624 * 4), "uint32")
    sys.modules["numpy.random"].set_state(("MT19937", key, 624))


# --- rehearsals -----------------------------------------------------------------------------------

# What typical programs do, by the module they need. In a box they run before a request comes, so
# that the pages it touches are the box's own by then: little, because each waiting box pays for it
# with memory.
_IN_BOXES = {
    "builtins": """
print(2 + 2)
""",
}

# In those that are handed out next, what their profile is for: a library, or else more of the
# language.
_IN_NEXT_BOXES = {
    "pandas": """
import pandas
print(pandas.DataFrame({"a": [1, 2, 3]}).a.sum())
""",
    "builtins": """
class Point:
    def __init__(self, x, y=0):
        self.x, self.y = x, y
    def __repr__(self):
        return f"{self.x:.2f},{self.y!r}"
def total(points, *more, **named):
    return sum(p.x * p.y for p in points if p.x > 0)
points = [Point(i, i * 0.5) for i in range(5)]
try:
    {}["missing"]
except KeyError as error:
    print(str(error), total(points), sorted({str(p): p for p in points}, reverse=True)[0])
words = "a few words of text".strip().split()
print(2 + 2)
""",
}

# In the zygote they run many times: what is learned there (specialised bytecode, caches) all boxes
# share, and copy the less of.
_IN_ZYGOTE = {
    **_IN_BOXES,
    "numpy": """
import numpy
print(numpy.arange(6.0).mean())
""",
    "pandas": """
import pandas
frame = pandas.DataFrame({"a": [1, 2, 3], "b": [1.5, 2.5, 3.5], "c": ["x", "y", "x"]})
print(frame.a.sum(), frame.describe(), frame.groupby("c").b.mean(), frame[frame.a > 1])
""",
}


def rehearsal(place):
    """The program that is run before a request comes; `place` is zygote/rehearsal.h's."""
    programs = (_IN_ZYGOTE, _IN_BOXES, _IN_NEXT_BOXES)[place]
    fitting = [code for name, code in programs.items() if name in sys.modules]
    return "".join(fitting[:1] if programs is _IN_NEXT_BOXES else fitting).encode()


def forget_rehearsal(filename):
    """Nothing of it is left that a program could see."""
    sys.argv = [""]
    finish(exit_handlers=False)  # they are the program's
    _main.__dict__.update(_pristine)
    gc.freeze()  # and nothing of it is ever looked at again
    _sources.pop(filename, None)
    if "linecache" in sys.modules:
        sys.modules["linecache"].cache.pop(filename, None)


# --- one run --------------------------------------------------------------------------------------


def run(source, filename, argv, variables, language=None):
    """Runs `source` (bytes) as __main__. Returns (ending, exit_code, value, shown, names, error):
    ending is 0 for the end of the code, 1 for an uncaught exception, 2 for sys.exit, 3 for a
    refusal of the language layer; `shown` is the final expression's value when that is not None;
    names are the first container's, without those of the others; error is (type, message,
    traceback, line, offset, text). `language` is the layer: check(tree, namespace), the builtins
    for the namespace, is_refusal(exception)."""
    namespace = _main.__dict__
    sys.argv = argv
    namespace.update(variables)
    if not filename.startswith("<"):
        namespace["__file__"] = filename
    _remember_source(source, filename)
    process = posix.getpid()
    ending, exit_code, value, shown, error = 0, 0, None, None, None
    bound = []
    if language is not None:
        namespace["__builtins__"] = language[1]
        namespace["__loader__"] = namespace["__spec__"] = None
    try:
        shown = _execute(source, filename, namespace, language, bound)
        value = shown
        if value is None:
            value = _named_result(namespace)
    except SystemExit as exit_request:
        ending, exit_code = 2, _exit_code(exit_request)
    except BaseException as exception:
        ending, exit_code = 1, 130 if isinstance(exception, KeyboardInterrupt) else 1
        if language is not None and language[2](exception):
            ending = 3
        error = _describe(exception, filename)
        # The server shows the exception of the program itself; a fork that came this far has to do
        # it alone. A program may also have a hook of its own.
        if sys.excepthook is not sys.__excepthook__:
            _call_hook(exception)
        elif posix.getpid() != process:
            print(error[2], end="", file=sys.stderr)
    return ending, exit_code, value, shown, (namespace, _not_made, variables, bound), error


def validate(source, filename, argv, variables, language):
    """Parses, checks and compiles `source`; runs nothing of it. Answers as run() does."""
    error = None
    try:
        tree = compile(source, filename, "exec", _ONLY_AST | _ALLOW_TOP_LEVEL_AWAIT, True)
        compile(tree, filename, "exec", _ALLOW_TOP_LEVEL_AWAIT, True)
        language[0](tree, None)
    except BaseException as exception:
        error = _describe(exception, filename)
    return int(error is not None), int(error is not None), None, None, ({},), error


def _execute(source, filename, namespace, language, bound):
    check = None if language is None else language[0]
    steps, names = compile_program(source, filename, check, namespace)
    bound += names
    for step in steps:
        if step.co_flags & _IS_COROUTINE:
            import asyncio

            return asyncio.run(_await_steps(steps, namespace))
    value = None
    for step in steps:
        value = eval(step, namespace)
    return value


async def _await_steps(steps, namespace):
    value = None
    for step in steps:
        value = eval(step, namespace)
        if step.co_flags & _IS_COROUTINE:
            value = await value
    return value


def _named_result(namespace):
    for name in ("result", "output", "_"):
        if name in namespace:
            return namespace[name]
    return None


def _exit_code(exit_request):
    try:
        code = exit_request.code
        if code is None:
            return 0
        if isinstance(code, int):
            return code & 0xFF
        print(code, file=sys.stderr)
    except BaseException:
        pass  # a code that cannot be shown is still no zero
    return 1


def finish(exit_handlers=True):
    """The end of a program: its threads are awaited, its atexit handlers run, its globals go."""
    try:
        threading = sys.modules.get("threading")
        if threading is not None and threading.active_count() > 1:
            threading._shutdown()
        if atexit._ncallbacks() and exit_handlers:
            atexit._run_exitfuncs()
        _main.__dict__.clear()
        _collect()
    except BaseException:
        sys.excepthook(*sys.exc_info())


def _collect():
    # What is as old as the zygote is frozen. Unless a collection of the middle generation made
    # something of the program old, the younger two hold all of it, at a tenth of the price.
    gc.collect(2 if gc.get_count()[2] else 1)


# --- errors ---------------------------------------------------------------------------------------


def _remember_source(source, filename):
    _sources[filename] = source
    linecache = sys.modules.get("linecache")
    if linecache is not None:
        linecache.cache[filename] = _NOT_READ


def _is_users(frame_filename):
    """Neither ours, nor the standard library's, nor an installed package's."""
    if frame_filename in _sources:
        return True
    return not (frame_filename == _HERE or frame_filename.startswith(("<frozen ", "/usr/")))


def _describe(exception, filename):
    """(type, message, traceback, line, offset, text), whatever user code did to the classes
    involved; the last two are those of a syntax error."""
    name = _type_name(type(exception))
    try:
        message = exception.msg if isinstance(exception, SyntaxError) else str(exception)
    except BaseException:
        message = "<str() of the exception failed>"
    try:
        return (name, message, *_trace(exception, filename), *_place(exception, filename))
    except BaseException:
        return name, message, f"{name}: {message}\n", 0, 0, ""


def _place(exception, filename):
    if not isinstance(exception, SyntaxError) or exception.filename != filename:
        return 0, ""
    offset, text = exception.offset, exception.text
    return offset if type(offset) is int and offset > 0 else 0, text if type(text) is str else ""


def _type_name(kind):
    return type.__dict__["__name__"].__get__(kind)  # a metaclass may have its own idea of __name__


def _trace(exception, filename):
    import traceback

    report = traceback.TracebackException.from_exception(exception, compact=True)
    line = 0
    if isinstance(exception, SyntaxError) and exception.filename == filename:
        line = exception.lineno or 0
    else:
        for frame in report.stack:
            if frame.filename == filename:
                line = frame.lineno
    _keep_users_frames(report, set())
    return "".join(report.format()), line


def _keep_users_frames(report, seen):
    if report is None or id(report) in seen:
        return
    seen.add(id(report))
    report.stack[:] = [frame for frame in report.stack if _is_users(frame.filename)]
    grouped = getattr(report, "exceptions", None) or ()
    for linked in (report.__cause__, report.__context__, *grouped):
        _keep_users_frames(linked, seen)


def _call_hook(exception):
    try:
        sys.excepthook(type(exception), exception, exception.__traceback__)
    except BaseException:
        sys.__excepthook__(*sys.exc_info())
