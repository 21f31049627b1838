"""`trimtab --mode rpc`: a session for other programs, as JSON lines over standard input and output.

    stdin ─framing─▶ line ─requests─▶ a request ─serve─▶ handlers ──▶ Session ──events──▶ stream ─▶ records
    stdout ◀─outbox◀─ answers, records, questions (dialogs)

The names on the wire are those of pi's RPC protocol, so that its clients work; what Trimtab adds begins with `trimtab.`. docs/rpc.md lists all of it.
"""
