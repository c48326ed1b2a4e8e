import ast
import json
import resource
import sys
import warnings

resource.setrlimit(resource.RLIMIT_CPU, (4, 4))
resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
resource.setrlimit(resource.RLIMIT_NOFILE, (8, 8))
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
warnings.simplefilter("ignore")
found = {"message": ""}
source = sys.stdin.buffer.read(1 << 21)


def mistake(code):
    try:
        ast.parse(code)
    except SyntaxError as e:
        return e


try:
    if e := mistake(source):
        e = mistake(source.decode("utf-8-sig", "replace")) or e  # in a text, columns count characters and not bytes
        found = {"line": e.lineno or 1, "column": e.offset or 1, "message": e.msg or "this is not Python"}
        if getattr(e, "end_lineno", None) == e.lineno:
            found["end"] = e.end_offset or 0
except ValueError as e:
    found = {"line": 1, "column": 1, "message": str(e)}
except (RecursionError, MemoryError):
    found = {"line": 1, "column": 1, "message": "this is nested too deeply"}
print(json.dumps(found))
