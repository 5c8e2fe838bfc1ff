"""The third face: coding agents ask for knowledge over the Model Context Protocol, on standard input and output.

`serve.py` is the command, `tools.py` what each tool takes and gives, `server.py` the protocol itself.
"""
