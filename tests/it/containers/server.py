"""A small MCP server whose tools do to their container what tests ask for."""
import json, os, select, signal, socket, subprocess, sys, time


def answer(ident, result):
    print(json.dumps({"jsonrpc": "2.0", "id": ident, "result": result}), flush=True)


def tool(name, args):
    if name == "echo":
        return args["text"]
    if name == "write":
        with open(args["path"], "w") as file:
            file.write(args.get("text", ""))
        return "written"
    if name == "link":
        os.symlink(args["to"], args["path"])
        return "linked"
    if name == "bind":
        socket.socket(socket.AF_UNIX).bind(args["path"])
        return "bound"
    if name == "spawn":
        return str(subprocess.run(["sh", "-c", "exec " + args["line"]], stdin=subprocess.DEVNULL).returncode)
    if name == "there":
        return json.dumps([path for path in args["paths"] if os.path.exists(path)])
    if name == "list":
        return json.dumps(sorted(os.listdir(args["path"])))
    if name == "read":
        with open(args["path"]) as file:
            return file.read()
    if name == "env":
        return json.dumps(dict(os.environ))
    if name == "who":
        return f"{os.getuid()}:{os.getgid()} in {os.getcwd()}"
    if name == "exit":
        os._exit(args["code"])
    if name == "eat":
        hoard = []
        while True:
            hoard.append(bytearray(b"x" * 8_000_000))
    if name == "flood":
        for _ in range(args["megabytes"]):
            sys.stderr.write("e" * 1_000_000)
        sys.stderr.write("last words\n")
        sys.stderr.flush()
        return "flooded"
    if name == "connect":
        try:
            socket.create_connection((args["host"], args["port"]), timeout=5).close()
            return "connected"
        except OSError as error:
            return f"refused: {error}"
    if name == "sleep":
        time.sleep(args["seconds"])
        return "slept"
    if name == "wait":
        while not os.path.exists(args["path"]):
            time.sleep(0.01)
        return "waited"
    if name == "times":
        return json.dumps({"begun": begun, "greeted": greeted, "now": time.time()})
    if name == "deaf":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        global deaf
        deaf = True
        return "deaf"
    if name == "end":
        global end
        end = args
        return "will end"
    raise SystemExit(f"no tool {name}")


end = {}
deaf = False
begun, greeted = time.time(), None
if "BEGUN" in os.environ:
    open(os.environ["BEGUN"], "w").close()
names = "echo write link bind spawn there list read env who exit eat flood connect sleep wait times deaf end".split()
patience = os.environ.get("PATIENCE")
if patience and not select.select([sys.stdin], [], [], float(patience))[0]:
    os._exit(3)
for line in sys.stdin:
    frame = json.loads(line)
    method, ident = frame.get("method"), frame.get("id")
    if method == "initialize":
        greeted = time.time()
        answer(ident, {
            "protocolVersion": frame["params"]["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "container-test", "version": "1"},
        })
    elif method == "tools/list":
        answer(ident, {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in names]})
    elif method == "tools/call":
        text = tool(frame["params"]["name"], frame["params"].get("arguments", {}))
        answer(ident, {"content": [{"type": "text", "text": text}]})
while deaf:
    time.sleep(1)
if "signal" in end:
    os.kill(os.getpid(), end["signal"])
os._exit(end.get("code", 0))
