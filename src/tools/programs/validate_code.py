"""Compiles `source`, as a run of it would, and says what stands in the way. Runs in a box, because
parsing hostile code is work for a box: a crash or a flood of the compiler ends here."""
import warnings


def check(source):
    warnings.simplefilter("ignore")  # the compiler's advice is not part of the answer
    try:
        compile(source.encode(), "<sandbox>", "exec", 0x2000, True)  # top-level await is allowed
    except SyntaxError as error:
        return {"kind": "syntax", "error": str(error), "line": error.lineno,
                "offset": error.offset, "text": error.text and error.text[:500]}
    except ValueError as error:  # a NUL byte, before Python 3.12
        return {"kind": "syntax", "error": str(error), "line": None, "offset": None, "text": None}
    except (RecursionError, MemoryError, OverflowError) as error:
        return {"kind": "compile", "error": str(error) or type(error).__name__}
    return {"kind": "valid"}


check(source)
