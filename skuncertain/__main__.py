"""``python -m skuncertain``: the command line."""

import sys

from skuncertain._cli.main import main

if __name__ == "__main__":
    sys.exit(main())
