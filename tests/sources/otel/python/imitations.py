"""Imitated speech and an imitated model for a session of LiveKit Agents."""
import asyncio, json, time
from livekit import rtc
from livekit.agents import llm, stt, tts
from livekit.agents.voice import io

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
