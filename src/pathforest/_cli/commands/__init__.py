"""The subcommands, one file each; `COMMANDS` in `entrypoint.py` lists them."""
