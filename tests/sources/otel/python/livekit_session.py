"""Runs scripts/examples/livekit_agent.py with imitated speech and an imitated model, traced by OpenTelemetry.

Prints one line of JSON: the agent's own history, its tools and its latencies."""
import asyncio, json, os, statistics, sys, time, types
from livekit import rtc
from livekit.agents import AgentSession, llm, stt, telemetry, tts
from livekit.agents.testing import fake_job_context
from livekit.agents.voice import io
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

sys.path.insert(0, os.environ["EXAMPLES"])
import livekit_agent  # noqa: E402

RATE = 24_000


def silence(seconds: float) -> rtc.AudioFrame:
    return rtc.AudioFrame.create(RATE, 1, int(RATE * seconds))


class Model(llm.LLM):
    """Searches for a question about opening hours, and repeats what the tool has said."""

    def chat(self, *, chat_ctx, tools=None, conn_options, **_):
        return ModelStream(self, chat_ctx=chat_ctx, tools=tools or [], conn_options=conn_options)


class ModelStream(llm.LLMStream):
    async def _run(self) -> None:
        await asyncio.sleep(0.05)
        last = self._chat_ctx.items[-1]
        if last.type == "function_call_output":
            delta = llm.ChoiceDelta(role="assistant", content=f"It says: {last.output}")
        elif "open" in (last.text_content or ""):
            query = json.dumps({"query": last.text_content})
            call = llm.FunctionToolCall(name="search_knowledge", arguments=query, call_id="call_1")
            delta = llm.ChoiceDelta(role="assistant", content="Let me check.", tool_calls=[call])
        else:
            delta = llm.ChoiceDelta(role="assistant", content="Goodbye.")
        self._event_ch.send_nowait(llm.ChatChunk(id="chunk", delta=delta))
        usage = llm.CompletionUsage(completion_tokens=7, prompt_tokens=11, total_tokens=18)
        self._event_ch.send_nowait(llm.ChatChunk(id="chunk", usage=usage))


class Ears(stt.STT):
    def __init__(self) -> None:
        super().__init__(capabilities=stt.STTCapabilities(streaming=True, interim_results=False))
        self.heard = asyncio.Queue()

    async def _recognize_impl(self, *_, **__):
        raise NotImplementedError

    def stream(self, *, language=None, conn_options):
        return EarsStream(stt=self, conn_options=conn_options)


class EarsStream(stt.RecognizeStream):
    async def _run(self) -> None:
        while True:
            words = await self._stt.heard.get()
            for kind in (stt.SpeechEventType.START_OF_SPEECH, stt.SpeechEventType.FINAL_TRANSCRIPT,
                         stt.SpeechEventType.END_OF_SPEECH):
                said = [stt.SpeechData(language="en", text=words)]
                self._event_ch.send_nowait(stt.SpeechEvent(type=kind, alternatives=said))
                await asyncio.sleep(0.05)


class Voice(tts.TTS):
    def __init__(self) -> None:
        super().__init__(capabilities=tts.TTSCapabilities(streaming=False), sample_rate=RATE, num_channels=1)

    def synthesize(self, text: str, *, conn_options):
        return VoiceStream(tts=self, input_text=text, conn_options=conn_options)


class VoiceStream(tts.ChunkedStream):
    async def _run(self, emitter: tts.AudioEmitter) -> None:
        emitter.initialize(request_id="voice", sample_rate=RATE, num_channels=1, mime_type="audio/pcm")
        emitter.push(bytes(silence(0.2).data))


class Microphone(io.AudioInput):
    async def __anext__(self) -> rtc.AudioFrame:
        await asyncio.sleep(0.02)
        return silence(0.02)


class Speaker(io.AudioOutput):
    """Plays at once."""

    def __init__(self) -> None:
        super().__init__(label="speaker", capabilities=io.AudioOutputCapabilities(pause=False), sample_rate=RATE)
        self.seconds = 0.0

    async def capture_frame(self, frame: rtc.AudioFrame) -> None:
        await super().capture_frame(frame)
        if self.seconds == 0.0:
            self.on_playback_started(created_at=time.time())
        self.seconds += frame.duration

    def flush(self) -> None:
        super().flush()
        if self.seconds > 0:
            self.on_playback_finished(playback_position=self.seconds, interrupted=False)
        self.seconds = 0.0

    def clear_buffer(self) -> None:
        pass


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
