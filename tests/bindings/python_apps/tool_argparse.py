"""A stock command with argparse; with SHOP_MISHAP it has the three lines of the adapter."""
import argparse
import os
import sys

parser = argparse.ArgumentParser(prog="tool")
commands = parser.add_subparsers(dest="command", required=True)
show = commands.add_parser("show")
show.add_argument("number", type=int)
show.add_argument("--color", choices=["red", "blue"])


def main():
    arguments = parser.parse_args()
    if arguments.number == 1:
        raise RuntimeError("could not connect to postgres://shop:hunter22@db7:5432/orders")
    if arguments.number == 2:
        from mishap import Mishap
        raise Mishap("NOT_FOUND", "There is no order 2.", context={"order": 2})
    if arguments.number == 3:
        return 9
    print("order", arguments.number)


if os.environ.get("SHOP_MISHAP") == "1":
    import mishap.argparse
    mishap.argparse.install(parser)
    mishap.argparse.run(main)
sys.exit(main())
