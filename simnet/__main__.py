"""`python -m simnet`."""

from simnet.cli import main

if __name__ == "__main__":
    main()
