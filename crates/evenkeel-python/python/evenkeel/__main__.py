"""The ``evenkeel`` command: ``python -m evenkeel`` is the same."""

from __future__ import annotations

import sys

from evenkeel import _evenkeel

#: How this program is started once more: its workers are processes of their own.
AGAIN = [sys.executable, "-m", "evenkeel"]


def main() -> int:
    """Run the command with the arguments of this process."""
    return _evenkeel.main(["evenkeel", *sys.argv[1:]], AGAIN)


if __name__ == "__main__":
    sys.exit(main())
