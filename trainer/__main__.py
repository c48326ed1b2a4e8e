"""The command line: ``python -m trainer`` with ``run SPEC``, ``options``, ``sandbox``, ``answer``, ``board`` or ``warm``."""

import argparse
import os
import sys


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="trainer", description="Run the training, prediction or script that a spec.json describes.")
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="run one training, prediction or script; the results are written next to spec.json")
    run.add_argument("spec", help="path to spec.json in the run folder")
    run.add_argument("--launcher", choices=["ray", "local"], default="ray", help="ray (default), or local to train in this process")
    options = commands.add_parser("options", help="print all options as a Markdown table")
    options.add_argument(
        "kind", nargs="?", choices=["train", "predict", "script"], default="train", help="options of a training (default), a prediction or a script"
    )
    sandbox = commands.add_parser("sandbox", help="say which sandbox can hold a script on this machine, as JSON")
    sandbox.add_argument(
        "allowed", nargs="?", choices=["auto", "bubblewrap", "gvisor", "none"], default="auto", help="sandboxes to try (default auto)"
    )
    _answer_arguments(commands.add_parser("answer", help="answer single rows from registered models (Open Inference Protocol v2)"))
    _board_arguments(commands.add_parser("board", help="show curves that are sent to it in TensorBoard's own pages"))
    commands.add_parser("warm", help="let machines of a standing Ray keep a process that has done the slow imports, up to WARM_WORKERS of them")
    args = parser.parse_args(argv)

    if args.command == "answer":
        return _answer(args)
    if args.command == "board":
        return _board(args)
    if args.command == "options":
        from trainer.config.options import table

        print(table(args.kind), end="")
        return 0
    if args.command == "sandbox":
        import json

        from trainer.script.sandbox import survey

        print(json.dumps(survey(args.allowed)))
        return 0
    if args.command == "warm":
        from trainer.launch import connection

        connection.open()
        connection.close()
        return 0
    if args.launcher == "ray":
        from trainer.standby import driver

        if (code := driver.run(args.spec)) is not None:
            return code
    from trainer.gc_pause import importing

    with importing():
        from trainer.run import ENDED, run as run_training
        from trainer.run_folder.lease import LEASE_LOST

    code = run_training(args.spec, args.launcher)
    if args.launcher == "ray" and code not in (ENDED, LEASE_LOST):
        driver.prepare_next(args.spec)
    return code


def _answer_arguments(answer: argparse.ArgumentParser) -> None:
    models = answer.add_mutually_exclusive_group(required=True)
    models.add_argument("--registry", help="folder of the registry: all its models can be asked")
    models.add_argument("--version", help="folder of one version, with version.json and model/: only this model can be asked")
    answer.add_argument("--sha256", default="", help="of version.json: another version is refused")
    answer.add_argument("--models", default="", help="folder of the installed models, which some models need (default: models beside the registry)")
    answer.add_argument("--listen", default="127.0.0.1:0", help="host and port; port 0 takes a free one, which is printed")
    answer.add_argument("--memory", type=int, default=256, help="megabytes for models; the least recently used leave (default 256)")
    answer.add_argument("--sleep", type=float, default=900, help="seconds without a request after which the process ends; 0 never (default 900)")
    answer.add_argument("--token-file", default="", help="file with the bearer token; else ANSWER_TOKEN, and without one nobody is asked")
    answer.add_argument("--with-parent", action="store_true", help="end when the standard input ends")


def _answer(args) -> int:
    os.environ["TOKENIZERS_PARALLELISM"] = "false"  # before the library starts its threads
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from pathlib import Path

    from trainer.answer import server
    from trainer.answer.listening import address_of, token_of
    from trainer.answer.store import Loaded, Registry, Single

    try:
        source = Registry(Path(args.registry)) if args.registry else Single(Path(args.version), args.sha256)
        token = token_of(args.token_file, os.environ.pop("ANSWER_TOKEN", ""))
        models = Path(args.models) if args.models else Path(args.registry).parent / "models" if args.registry else None
        loaded = Loaded(args.memory << 20, models)
        server.serve(address_of(args.listen), source, loaded, token, args.sleep, args.with_parent)
    except (OSError, ValueError, KeyError) as e:
        print(f"Error: {e}", file=sys.stderr)
        return 1
    return 0


def _board_arguments(board: argparse.ArgumentParser) -> None:
    board.add_argument("--listen", default="127.0.0.1:0", help="host and port; port 0 takes a free one, which is printed")
    board.add_argument("--sleep", type=float, default=900, help="seconds without a request after which the process ends; 0 never (default 900)")
    board.add_argument("--token-file", default="", help="file with the bearer token; else BOARD_TOKEN, and without one nobody is asked")
    board.add_argument("--with-parent", action="store_true", help="end when the standard input ends")


def _board(args) -> int:
    import importlib.util

    if importlib.util.find_spec("tensorboard") is None:
        print('{"missing": "tensorboard"}', flush=True)
        print("Error: this Python environment lacks the package tensorboard", file=sys.stderr)
        return 1
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from trainer.answer.listening import address_of, token_of
    from trainer.board import server

    try:
        token = token_of(args.token_file, os.environ.pop("BOARD_TOKEN", ""))
        server.serve(address_of(args.listen), token, args.sleep, args.with_parent)
    except (OSError, ValueError) as e:
        print(f"Error: {e}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # nothing is left to do, and Ray's own handlers at exit could change the code while a trainer is winding up
