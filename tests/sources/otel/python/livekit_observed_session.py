"""Runs a session of LiveKit Agents with imitated speech and an imitated model, observed by LIVEKIT_OBSERVABILITY_URL alone.

Prints one line of JSON: the agent's own history."""
import asyncio, json, os, sys
from imitations import Ears, Microphone, Model, Speaker, Voice
from livekit.agents import Agent, AgentSession, function_tool
from livekit.agents.testing import fake_job_context
from livekit.agents.utils import http_context


class FrontDesk(Agent):
    def __init__(self) -> None:
        super().__init__(instructions="SECRET instructions", id="front-desk")

    @function_tool
    async def search_knowledge(self, query: str) -> str:
        """Searches."""
        return "We open at nine."


async def until_idle(session: AgentSession, spoken: int) -> None:
    while len(session.history.items) == spoken or session.current_speech or session.agent_state != "listening":
        await asyncio.sleep(0.05)
    await asyncio.sleep(0.3)


async def main() -> None:
    job_id, speaks = sys.argv[1], sys.argv[2] == "speech"
    http_context._new_session_ctx()
    with fake_job_context(job_id=job_id) as ctx:
        ears = Ears()
        handling = {"turn_detection": "stt", "endpointing": {"min_delay": 0.1}}
        session = AgentSession(stt=ears, llm=Model(), tts=Voice(), turn_handling=handling) if speaks else AgentSession(llm=Model())
        if speaks:
            session.input.audio, session.output.audio = Microphone(label="microphone"), Speaker()
        await session.start(FrontDesk(), record=True)
        for words in ("When do you open?", "Thank you, bye"):
            spoken = len(session.history.items)
            if speaks:
                ears.heard.put_nowait(words)
                await until_idle(session, spoken)
            else:
                await session.run(user_input=words)
        ctx.tagger.success(reason="The caller knows the opening hours")
        ctx.tagger.add("language:en")
        ctx.tagger.add("appointment:booked", metadata={"slot": "SECRET slot"})
        ctx.tagger._evaluation_results.append(
            {"name": "accuracy", "tag": "lk.judge.accuracy:pass", "verdict": "pass", "reasoning": "All is right.",
             "instructions": "SECRET instructions"})
        await session.aclose()
        await ctx._on_session_end()
        turns = [{"role": item.role, "content": item.text_content} for item in session.history.items
                 if item.type == "message" and item.role in ("user", "assistant") and item.text_content]
        tools = [[item.name, item.arguments if item.type == "function_call" else item.output]
                 for item in session.history.items if item.type.startswith("function_call")]
        print(json.dumps({"turns": turns, "tools": tools}), flush=True)
        await ctx._on_cleanup()
    await http_context._close_http_ctx()


asyncio.run(main())
os._exit(0)
