"""The official Python client: python.py legacy|REVISION URL, or python.py legacy|REVISION COMMAND ARGUMENT..."""

import json
import sys

import anyio
from mcp import Client, MCPError, StdioServerParameters
from mcp_types import (
    CreateMessageResult,
    ElicitResult,
    ListRootsResult,
    PromptReference,
    Root,
    TextContent,
    ToolListChangedNotification,
)


async def sample(_context, params):
    said = TextContent(type="text", text=f"you said {params.messages[0].content.text}")
    return CreateMessageResult(role="assistant", model="m", content=said)


async def fill_in(_context, params):
    fields = params.requested_schema["properties"].items()
    content = {name: True if it["type"] == "boolean" else f"{name}@x.y" for name, it in fields}
    return ElicitResult(action="accept", content=content)


async def roots(_context):
    return ListRootsResult(roots=[Root(uri="file:///a"), Root(uri="file:///b", name="b")])


def text(result):
    return result.content[0].text


async def check_tools(client):
    tools = (await client.list_tools()).tools
    assert tools[0].name == "test_simple_text" and len(tools) > 40, tools
    assert text(await client.call_tool("test_simple_text")) == "a simple text for testing"
    echo = await client.call_tool("echo", {"message": "hällo"})
    assert echo.structured_content == {"message": "hällo"}, echo
    assert (await client.call_tool("test_error_handling")).is_error
    kinds = [block.type for block in (await client.call_tool("test_multiple_content_types")).content]
    assert kinds == ["text", "image", "resource"], kinds
    try:
        unknown = await client.call_tool("no_such_tool")
    except MCPError as error:
        assert error.code == -32602, error
    else:
        raise AssertionError(unknown)
    heard = []

    async def progress(done, _total, _message):
        heard.append(done)

    await client.call_tool("test_tool_with_progress", progress_callback=progress)
    assert heard == [0, 50, 100], heard


async def check_questions(client):
    sampled = await client.call_tool("test_sampling", {"prompt": "six by nine"})
    assert text(sampled) == "the model says: you said six by nine", sampled
    answered = await client.call_tool("test_elicitation", {"message": "who"})
    assert answered.structured_content["content"] == {"username": "username@x.y", "email": "email@x.y"}, answered
    assert text(await client.call_tool("list_roots")) == "file:///a\nfile:///b"
    rounds = await client.call_tool("test_input_required_result_multi_round")
    assert rounds.structured_content["step2"]["content"] == {"ok": True}, rounds


async def check_resources_and_prompts(client):
    assert "test://static-text" in [str(it.uri) for it in (await client.list_resources()).resources]
    read = await client.read_resource("test://template/7/data")
    assert json.loads(read.contents[0].text)["id"] == "7", read
    assert "name@x.y" in (await client.read_resource("test://input-required")).contents[0].text
    assert len((await client.list_resource_templates()).resource_templates) == 1
    assert len((await client.list_prompts()).prompts) >= 5
    got = await client.get_prompt("test_prompt_with_arguments", {"arg1": "one", "arg2": "two"})
    assert got.messages[0].content.text == "a prompt with arg1='one', arg2='two'", got
    assert "name@x.y" in (await client.get_prompt("test_input_required_result_prompt")).messages[0].content.text
    reference = PromptReference(type="ref/prompt", name="test_prompt_with_arguments")
    completed = await client.complete(reference, {"name": "arg1", "value": "ap"})
    assert completed.completion.values == ["apple", "apricot"], completed


async def main(mode, server):
    changed = anyio.Event()
    logged = []

    async def hear(message):
        if isinstance(message, ToolListChangedNotification):
            changed.set()

    async def log(params):
        logged.append(params.data)

    callbacks = {"sampling_callback": sample, "elicitation_callback": fill_in, "list_roots_callback": roots}
    async with Client(server, mode=mode, message_handler=hear, logging_callback=log, **callbacks) as client:
        assert client.protocol_version == ("2025-11-25" if mode == "legacy" else mode), client.protocol_version
        await check_tools(client)
        await check_questions(client)
        await check_resources_and_prompts(client)
        if mode == "legacy":
            await client.call_tool("test_trigger_tool_change")
            await changed.wait()
            await client.call_tool("test_tool_with_logging")
            assert len(logged) == 3, logged
        else:
            async with client.listen(tools_list_changed=True) as changes:
                await client.call_tool("test_trigger_tool_change")
                await anext(aiter(changes))
        assert "test_dynamic_tool" in [tool.name for tool in (await client.list_tools()).tools]
        await client.call_tool("test_trigger_tool_change")
    print("ok")


async def in_time(mode, server):
    with anyio.fail_after(60):
        await main(mode, server)


mode, first, *rest = sys.argv[1:]
anyio.run(in_time, mode, first if first.startswith("http") else StdioServerParameters(command=first, args=rest))
