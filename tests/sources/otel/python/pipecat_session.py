"""Runs scripts/examples/pipecat_bot.py with imitated speech and an imitated model, traced by OpenTelemetry.

Prints one line of JSON: the bot's own context, its tools and its latencies."""
import asyncio, json, os, statistics, sys, time
from aiohttp import web
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from pipecat.frames.frames import (
    EndFrame, TranscriptionFrame, TTSAudioRawFrame, UserStartedSpeakingFrame,
    UserStoppedSpeakingFrame, VADUserStartedSpeakingFrame, VADUserStoppedSpeakingFrame,
)
from pipecat.processors.aggregators.llm_response_universal import LLMUserAggregatorParams
from pipecat.processors.frame_processor import FrameProcessor
from pipecat.runner.types import CallData, RunnerArguments
from pipecat.services.openai.llm import OpenAILLMService
from pipecat.services.stt_service import STTService
from pipecat.services.tts_service import TTSService
from pipecat.transports.base_output import BaseOutputTransport
from pipecat.transports.base_transport import TransportParams
from pipecat.turns.user_turn_strategies import ExternalUserTurnStrategies
from pipecat.utils.tracing.service_decorators import traced_stt, traced_tts
from pipecat.utils.tracing.setup import setup_tracing
from pipecat.utils.tracing.turn_trace_observer import TurnTraceObserver

sys.path.insert(0, os.environ["EXAMPLES"])
import pipecat_bot  # noqa: E402


async def model(request: web.Request) -> web.StreamResponse:
    """As OpenAI: searches for a question about opening hours, and repeats what the tool has said."""
    last = (await request.json())["messages"][-1]
    call = {"index": 0, "id": "call_1", "type": "function",
            "function": {"name": "search_knowledge", "arguments": json.dumps({"query": last["content"]})}}
    if last["role"] == "tool":
        deltas = [{"content": f"It says: {json.loads(last['content'])}"}]
    elif "open" in last["content"]:
        deltas = [{"content": "Let me check."}, {"tool_calls": [call]}]
    else:
        deltas = [{"content": "Goodbye."}]
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    usage = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
    chunks = [{"choices": [{"index": 0, "delta": delta}]} for delta in deltas] + [{"choices": [], "usage": usage}]
    for chunk in chunks:
        data = {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "fake-1", **chunk}
        await response.write(f"data: {json.dumps(data)}\n\n".encode())
    await response.write(b"data: [DONE]\n\n")
    return response


class Ears(STTService):
    # Cartesia's, AWS's and others never set `finalized`, and say a turn in pieces.
    finalizes = "EARS_NEVER_FINALIZE" not in os.environ

    async def run_stt(self, audio):
        yield None

    @traced_stt
    async def _handle_transcription(self, transcript, is_final, language=None):
        pass

    async def hear(self, words: str) -> None:
        await self.push_frame(VADUserStartedSpeakingFrame())
        await self.push_frame(UserStartedSpeakingFrame())
        await asyncio.sleep(0.2)
        await self.push_frame(VADUserStoppedSpeakingFrame())
        for part in [words] if self.finalizes else words.split(" ", 1):
            await self.push_frame(TranscriptionFrame(part, "caller", "", finalized=self.finalizes))
        await self.push_frame(UserStoppedSpeakingFrame())


class Voice(TTSService):
    @traced_tts
    async def run_tts(self, text, context_id):
        yield TTSAudioRawFrame(bytes(2 * self.sample_rate // 5), self.sample_rate, 1, context_id=context_id)


class Speaker(BaseOutputTransport):
    async def start(self, frame):
        await super().start(frame)
        await self.set_transport_ready(frame)

    async def write_audio_frame(self, frame) -> bool:
        await asyncio.sleep(len(frame.audio) / 2 / frame.sample_rate)
        return True


class Microphone(FrameProcessor):
    async def process_frame(self, frame, direction):
        await super().process_frame(frame, direction)
        await self.push_frame(frame, direction)


class Transport:
    def __init__(self) -> None:
        self.microphone = Microphone()
        self.speaker = Speaker(TransportParams(audio_out_enabled=True, audio_out_10ms_chunks=2))

    def input(self):
        return self.microphone

    def output(self):
        return self.speaker


async def main() -> None:
    setup_tracing(service_name="front-desk", exporter=OTLPSpanExporter())
    app = web.Application()
    app.router.add_post("/chat/completions", model)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = site._server.sockets[0].getsockname()[1]

    workers, contexts, latencies = [], [], []
    measured = TurnTraceObserver._handle_latency_measured

    async def record(self, seconds):
        latencies.append(seconds)
        await measured(self, seconds)

    TurnTraceObserver._handle_latency_measured = record

    def create_worker(pipeline, **more):
        attributes = {"callbook.caller_number": "+15550100001", "callbook.direction": "inbound"}
        workers.append(PipelineWorkerOf(pipeline, **more, enable_tracing=True,
                                        conversation_id=os.environ.get("CALL_ID", "by-spans"),
                                        additional_span_attributes=attributes))
        return workers[0]

    def create_pair(context):
        contexts.append(context)
        return PairOf(context, user_params=LLMUserAggregatorParams(user_turn_strategies=ExternalUserTurnStrategies()))

    PipelineWorkerOf, PairOf = pipecat_bot.PipelineWorker, pipecat_bot.LLMContextAggregatorPair
    pipecat_bot.PipelineWorker, pipecat_bot.LLMContextAggregatorPair = create_worker, create_pair
    arguments = RunnerArguments(call_data=CallData(call_id="by-code", from_number="+15550100001"))
    ears = Ears()
    llm = OpenAILLMService(api_key="none", base_url=f"http://127.0.0.1:{port}")
    bot = asyncio.create_task(pipecat_bot.run(Transport(), ears, llm, Voice(), arguments))
    while not workers:
        await asyncio.sleep(0.05)
    await asyncio.sleep(0.5)
    answers = lambda: [m for m in contexts[0].get_messages() if m["role"] == "assistant" and m.get("content")]  # noqa: E731
    for words, expected in (("When do you open?", 2), ("Thank you, bye", 3)):
        await ears.hear(words)
        deadline = time.monotonic() + 15
        while len(answers()) < expected and time.monotonic() < deadline:
            await asyncio.sleep(0.05)
        await asyncio.sleep(0.5)
    await workers[0].queue_frame(EndFrame())
    await bot
    messages = contexts[0].get_messages()
    calls = [call["function"] for message in messages for call in message.get("tool_calls", [])]
    results = [json.loads(message["content"]) for message in messages if message["role"] == "tool"]
    print(json.dumps({
        "turns": [{"role": m["role"], "content": m["content"]} for m in messages
                  if m["role"] in ("user", "assistant") and m.get("content")],
        "tools": [[call["name"], call["arguments"]] for call in calls] + [["search_knowledge", text] for text in results],
        "latencyMs": statistics.median(latencies) * 1_000,
    }), flush=True)


asyncio.run(main())
from opentelemetry import trace  # noqa: E402
trace.get_tracer_provider().force_flush()
os._exit(0)
