"""``python -m fltheory`` is the command ``fltheory``."""

from fltheory.cli import main

if __name__ == "__main__":
    main()
