"""The command line: ``python -m trainer run SPEC``, ``python -m trainer options`` and ``python -m trainer sandbox``."""

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
    args = parser.parse_args(argv)

    if args.command == "options":
        from trainer.config.options import table

        print(table(args.kind), end="")
        return 0
    if args.command == "sandbox":
        import json

        from trainer.script.sandbox import survey

        print(json.dumps(survey(args.allowed)))
        return 0
    from trainer.run import run as run_training

    return run_training(args.spec, args.launcher)


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # nothing is left to do, and Ray's own handlers at exit could change the code while a trainer is winding up
