"""The process that serves the small real model: llama.cpp's own HTTP server, on loopback, on a port the system chose.

    python -P local_server.py MODEL_FILE ALIAS WINDOW

It writes one line, the address, when it can answer, and lives until its standard input ends: whoever started it need only go away, however
that happens. The one rule: this file imports nothing of Trimtab, because it runs by its path (see `local_model.py`).
"""

import os
import sys
from importlib import import_module

CHAT_TEMPLATE = """\
{%- if tools %}
{{- '<|im_start|>system\\n' }}
{%- if messages[0].role == 'system' %}{{- messages[0].content + '\\n' }}{%- endif %}
{{- 'You call functions.\\n<tools>' }}
{%- for tool in tools %}{{- '\\n' + (tool | tojson) }}{%- endfor %}
{{- '\\n</tools><|im_end|>\\n' }}
{%- elif messages[0].role == 'system' %}
{{- '<|im_start|>system\\n' + messages[0].content + '<|im_end|>\\n' }}
{%- endif %}
{%- for message in messages %}
{%- if not (loop.first and message.role == 'system') %}
{{- '<|im_start|>' + message.role }}
{%- if message.content %}{{- '\\n' + message.content }}{%- endif %}
{%- for call in message.tool_calls or [] %}
{{- '\\n<tool_call>\\n{"name": "' + call.function.name + '", "arguments": ' + (call.function.arguments | tojson) + '}\\n</tool_call>' }}
{%- endfor %}
{{- '<|im_end|>\\n' }}
{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- endif %}
"""
"""ChatML, the form SmolLM2 was trained on, and tools in tags that llama.cpp recognises. The model file's own template knows no tools and adds
a system prompt under which so small a model rambles."""


def main(model_file: str, alias: str, window: int) -> None:
    """Load the model, say where it is served, and wait for the end of standard input. `window` in tokens."""
    llama = import_module("xllamacpp")
    params = llama.CommonParams()
    params.model.path = model_file
    params.model_alias = {alias}
    params.n_ctx = window
    params.n_parallel = 1
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.offline = True
    params.ui = False
    params.warmup = False
    params.cache_ram_mib = 0
    params.sse_ping_interval = 1  # seconds between comments while a prompt is read
    params.chat_template = CHAT_TEMPLATE
    params.sampling.temp = 0
    # Two threads wait for each other by spinning: where other work runs too, a token then takes seconds instead of 15 ms.
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    server = llama.Server(params)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    sys.stdin.read()
    os._exit(0)  # an orderly end would wait for the answer that is being written


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
