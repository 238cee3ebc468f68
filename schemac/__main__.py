"""`python -m schemac`."""

import sys

from schemac.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
