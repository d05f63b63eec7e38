# A server of the Python SDK 2.x: `stdio`, or the port to listen on.
import sys
from mcp.server.mcpserver import MCPServer
app = MCPServer("python")
@app.tool()
def add(a: int, b: int) -> dict[str, int]:
    """Adds two numbers."""
    return {"sum": a + b}
@app.tool()
def fail() -> str:
    """Fails."""
    raise ValueError("no luck")
if sys.argv[1] == "stdio":
    app.run("stdio")
else:
    app.run(transport="streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
