# A server of FastMCP: `stdio`, or the port to listen on.
import sys
from fastmcp import FastMCP
app = FastMCP("fastmcp")
@app.tool
def add(a: int, b: int) -> dict[str, int]:
    """Adds two numbers."""
    return {"sum": a + b}
@app.tool
def fail() -> str:
    """Fails."""
    raise ValueError("no luck")
if sys.argv[1] == "stdio":
    app.run(transport="stdio", show_banner=False)
else:
    app.run(transport="http", host="127.0.0.1", port=int(sys.argv[1]), show_banner=False)
