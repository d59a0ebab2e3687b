import type { CaseFormat } from './format.ts'

/** A test for pytest and LiveKit's agents (1.8), beside which the cases stand: a caller's words are never code. */
export const livekit: CaseFormat = {
  file: 'test_callbook_cases.py',
  mediaType: 'text/plain',
  about:
    "Tests the next turn, with mocks by the names of tools. It reads cases.jsonl beside it, and cuts a conversation that ends with a tool's result at what the caller said last.",
  head: () => `"""Each case cuts a real call before the turn that was wrong: what does the agent say now?"""
import json
import pathlib

import pytest
from livekit.agents import AgentSession, ChatContext, mock_tools
from livekit.agents.llm import FunctionCall, FunctionCallOutput

from agent import Assistant, judge  # your agent, and a function that returns the model that judges

LINES = pathlib.Path(__file__).with_name("cases.jsonl").read_text("utf-8").split("\\n")
CASES = [json.loads(line) for line in LINES if line]


def mocks(case, before):
    results = {}
    for mock in case["mocks"]:
        if mock["result"] is not None:
            results.setdefault(mock["name"], []).append(mock["result"])
    names = {call["id"]: call["function"]["name"] for m in before for call in m.get("tool_calls") or []}
    for m in before:
        left = results.get(names.get(m.get("tool_call_id")), [])
        if m["role"] == "tool" and len(left) > 1:
            left.pop(0)
    return {name: in_order(left) for name, left in results.items()}


def in_order(left):
    # Without parameters: LiveKit fills those that a mock has.
    return lambda: left.pop(0) if len(left) > 1 else left[0]


def context(messages):
    ctx, names = ChatContext.empty(), {}
    for m in messages:
        for call in m.get("tool_calls") or []:
            function = call["function"]
            names[call["id"]] = function["name"]
            ctx.items.append(FunctionCall(call_id=call["id"], name=function["name"], arguments=function["arguments"]))
        if m["role"] == "tool":
            name = names.get(m["tool_call_id"], "")
            ctx.items.append(FunctionCallOutput(call_id=m["tool_call_id"], name=name, output=m["content"], is_error=False))
        elif m["content"]:
            ctx.add_message(role=m["role"], content=m["content"])
    return ctx


@pytest.mark.asyncio
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
async def test_next_turn(case):
    last = max((at for at, m in enumerate(case["messages"]) if m["role"] == "user"), default=None)
    if last is None:
        pytest.skip("no caller speaks in this case")
    async with AgentSession() as session:
        agent = Assistant()
        await session.start(agent)
        # Otherwise calls of tools that the agent does not have are dropped.
        before = case["messages"][:last]
        await agent.update_chat_ctx(context(before), exclude_invalid_function_calls=False)
        with mock_tools(Assistant, mocks(case, before)):
            result = await session.run(user_input=case["messages"][last]["content"])
        answer = [event.item for event in result.events if event.type == "message" and event.item.role == "assistant"]
        assert answer, "the agent said nothing"
        await result.expect[-1].is_message(role="assistant").judge(judge(), intent=case["expect"])
`,
  of: () => '',
}
