"""Runs scripts/examples/livekit_agent.py with imitated speech and an imitated model, traced by OpenTelemetry.

Prints one line of JSON: the agent's own history, its tools and its latencies."""
import asyncio, json, os, statistics, sys, types
from imitations import Ears, Microphone, Model, Speaker, Voice
from livekit.agents import AgentSession, telemetry
from livekit.agents.testing import fake_job_context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

sys.path.insert(0, os.environ["EXAMPLES"])
import livekit_agent  # noqa: E402

async def main() -> None:
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(), schedule_delay_millis=200))
    telemetry.set_tracer_provider(provider, metadata={"callbook.call.id": "by-spans"})
    ears, sessions = Ears(), []

    def create_session(**_):
        handling = {"turn_detection": "stt", "endpointing": {"min_delay": 0.1}}
        sessions.append(AgentSession(stt=ears, llm=Model(), tts=Voice(), turn_handling=handling))
        sessions[0].input.audio, sessions[0].output.audio = Microphone(label="microphone"), Speaker()
        return sessions[0]

    livekit_agent.AgentSession = create_session
    with fake_job_context(job_id="by-code") as ctx:
        attributes = {"sip.phoneNumber": "+15550100001", "sip.trunkPhoneNumber": "+15550100002", "sip.ruleID": "SDR_1"}

        async def participant():
            return types.SimpleNamespace(attributes=attributes)

        ctx.wait_for_participant = participant
        # There is no LiveKit server: the session runs without a room.
        start = AgentSession.start
        AgentSession.start = lambda self, room=None, **more: start(self, **more)
        await livekit_agent.entrypoint(ctx)
        (session,) = sessions
        for words in ("When do you open?", "Thank you, bye"):
            spoken = len(session.history.items)
            ears.heard.put_nowait(words)
            while len(session.history.items) == spoken or session.current_speech or session.agent_state != "listening":
                await asyncio.sleep(0.05)
            await asyncio.sleep(0.3)
        await session.aclose()
        await livekit_agent.ended(ctx)
        items = session.history.items
        latencies = [item.metrics["e2e_latency"] for item in items
                     if item.type == "message" and (item.metrics or {}).get("e2e_latency") is not None]
        tools = [[item.name, item.arguments if item.type == "function_call" else item.output] for item in items
                 if item.type.startswith("function_call")]
        print(json.dumps({"turns": livekit_agent.turns(items), "tools": tools,
                          "latencyMs": statistics.median(latencies) * 1_000 if latencies else None}), flush=True)
    await asyncio.to_thread(provider.force_flush)


asyncio.run(main())
os._exit(0)
