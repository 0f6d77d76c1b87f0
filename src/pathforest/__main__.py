"""`python -m pathforest`: the command, where the script is not on the path."""

from pathforest._cli import main

if __name__ == "__main__":
    main()
