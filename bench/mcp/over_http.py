"""tools/call over HTTP against the request of the HTTP benchmark: CPU a request of all processes of each server, in turn.

What is answered is looked at: something else would be another measurement.
"""
import json
import statistics

import figures
import load

TARGET = 1.2
CONNECTIONS, SECONDS = 64, 2

CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
    "name": "echo", "arguments": {"text": "hello"},
    "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}}}
FIELDS = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call",
          "Mcp-Name": "echo"}
USERS = load.Request("POST", "/users", 422, "value_out_of_range", '{"name":"","age":200,"email":"invalid"}')
ECHO = load.Request("POST", "/mcp", 200, '"structuredContent":{"text":"hello"}', json.dumps(CALL, separators=(",", ":")), FIELDS)


def measure(options):
    servers, costs = [], ([], [])
    try:
        for program, folder in ((options.mishap, "users"), (options.echo, "call")):
            servers.append(load.Server(program, options.folder / folder, options.server_cores))
        for turn in range(options.rounds + 1):
            for server, request, cost in zip(servers, (USERS, ECHO), costs):
                seen = server.load(request, CONNECTIONS, SECONDS if turn else 1, options.load_cores)
                if turn:
                    cost.append(seen["cpu"])
    finally:
        for server in servers:
            server.stop()
    users, calls = costs
    print(f"\ntools/call over HTTP, {CONNECTIONS} connections, one worker, against the request of make bench-http:")
    figures.row("CPU a call", figures.median("CPU a call", calls, options.rounds), "µs")
    figures.row("CPU a request", figures.median("CPU a request", users, options.rounds), "µs")
    figures.row("CPU a call against a request", statistics.median(figures.ratios("CPU a call", calls, users)), "×", at_most=TARGET)
