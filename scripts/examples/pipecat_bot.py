"""A Pipecat bot that sends its calls to Callbook while they happen, and answers from its knowledge.
Set CALLBOOK_URL, CALLBOOK_INGEST_KEY (an ingest key) and CALLBOOK_SEARCH_KEY (an API key of the scope `search`)."""
import asyncio, json, logging, os, re, time, urllib.request
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import LLMContextAggregatorPair
from pipecat.runner.types import CallData
from pipecat.services.llm_service import FunctionCallParams
from pipecat.workers.runner import WorkerRunner

async def send(method: str, path: str, key: str, body: dict, **more) -> dict:
    headers = {"Authorization": f"Bearer {os.environ[key]}", "Content-Type": "application/json", **more}
    request = urllib.request.Request(os.environ["CALLBOOK_URL"] + path, json.dumps(body).encode(), headers, method=method)
    try:  # what cannot be stored or found must never break the call
        return await asyncio.to_thread(lambda: json.load(urllib.request.urlopen(request, timeout=10)))
    except OSError as error:
        logging.warning("Callbook: %s", error)
        return {}

async def put(call_id: str, **fields) -> dict:
    known = {name: value for name, value in fields.items() if value is not None}
    return await send("PUT", f"/ingest/calls/{call_id}", "CALLBOOK_INGEST_KEY", known)

# For example from `async def bot(runner_args)`, with a transport of `create_transport` and services of your choice.
async def run(transport, stt, llm, tts, runner_args) -> None:
    call, began, turns, lock = runner_args.call_data or CallData(), time.monotonic(), [], asyncio.Lock()
    call_id = re.sub(r"[^A-Za-z0-9._:-]", "_", call.call_id or runner_args.session_id)

    async def search_knowledge(params: FunctionCallParams, query: str):
        """Search what the company knows. Use it for every question about the company."""
        own = {"X-Call-Id": call_id}  # the call's page shows the question
        answer = await send("POST", "/integrations/tool", "CALLBOOK_SEARCH_KEY", {"query": query}, **own)
        await params.result_callback(answer.get("result", "The search failed."))

    user, assistant = LLMContextAggregatorPair(LLMContext(tools=[search_knowledge]))
    pipeline = Pipeline([transport.input(), stt, user, llm, tts, transport.output(), assistant])
    worker = PipelineWorker(pipeline, params=PipelineParams(enable_metrics=True))

    async def add(role: str, message) -> None:
        turns.extend([{"role": role, "content": message.content}] if message.content else [])
        async with lock:  # one after the other; what is stored already is skipped
            await put(call_id, appendTranscript={"at": 0, "turns": turns})

    async def user_turn(_, message):
        await add("user", message)

    async def assistant_turn(_, message):
        await add("assistant", message)

    async def finished(_, frame):
        await put(call_id, status="completed", transcript=turns, duration=time.monotonic() - began,
                  endedReason=type(frame).__name__, isEngaged=any(turn["role"] == "user" for turn in turns))

    user.add_event_handler("on_user_turn_message_added", user_turn)
    assistant.add_event_handler("on_assistant_turn_stopped", assistant_turn)
    worker.add_event_handler("on_pipeline_finished", finished)
    await put(call_id, status="live", callerNumber=call.from_number, calledNumber=call.to_number,
              details={"agent": {"id": "front-desk"}, "direction": "inbound"})
    await (runner := WorkerRunner(handle_sigint=runner_args.handle_sigint)).add_workers(worker)
    await runner.run()
