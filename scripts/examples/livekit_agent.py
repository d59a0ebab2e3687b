"""A LiveKit agent that sends its calls to Callbook while they happen, and answers from its knowledge.
Set CALLBOOK_URL, CALLBOOK_INGEST_KEY (an ingest key) and CALLBOOK_SEARCH_KEY (an API key of the scope `search`)."""
import asyncio, json, logging, os, urllib.request
from livekit.agents import Agent, AgentServer, AgentSession, JobContext, cli, function_tool

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

async def send_turns(call_id: str, queue: asyncio.Queue) -> None:
    at, waiting = 0, []  # one sender keeps the order; what failed goes with the next turn
    while True:
        waiting.append(await queue.get())
        if await put(call_id, appendTranscript={"at": at, "turns": waiting}):
            at, waiting = at + len(waiting), []

def turns(items) -> list[dict]:
    return [{"role": item.role, "content": item.text_content} for item in items
            if item.type == "message" and item.role in ("user", "assistant") and item.text_content]

class FrontDesk(Agent):
    def __init__(self, call_id: str) -> None:
        super().__init__(instructions="You are the front desk. Answer briefly.")
        self.call_id = call_id

    @function_tool
    async def search_knowledge(self, query: str) -> str:
        """Search what the company knows. Use it for every question about the company."""
        call = {"X-Call-Id": self.call_id}  # the call's page shows the question
        answer = await send("POST", "/integrations/tool", "CALLBOOK_SEARCH_KEY", {"query": query}, **call)
        return answer.get("result", "The search failed.")

async def ended(ctx: JobContext) -> None:
    report = ctx.make_session_report()
    said, reasons = turns(report.chat_history.items), [event.reason.value for event in report.events if event.type == "close"]
    await put(ctx.job.id, status="completed", transcript=said, duration=report.duration or 0,
              endedReason=reasons[-1] if reasons else None, isEngaged=any(turn["role"] == "user" for turn in said))

server = AgentServer()
@server.rtc_session(on_session_end=ended)
async def entrypoint(ctx: JobContext) -> None:
    await ctx.connect()
    sip = (await ctx.wait_for_participant()).attributes
    direction = "inbound" if sip.get("sip.ruleID") else "outbound" if sip.get("sip.callID") else "web"
    numbers = sip.get("sip.phoneNumber"), sip.get("sip.trunkPhoneNumber")  # theirs, ours
    caller, called = reversed(numbers) if direction == "outbound" else numbers
    await put(ctx.job.id, status="live", callerNumber=caller, calledNumber=called,
              details={"agent": {"id": "front-desk"}, "direction": direction})
    session, queue = AgentSession(stt="deepgram/nova-3", llm="openai/gpt-4.1-mini", tts="cartesia/sonic-3"), asyncio.Queue()
    session.on("conversation_item_added", lambda event: [queue.put_nowait(turn) for turn in turns([event.item])])
    ctx.sender = asyncio.create_task(send_turns(ctx.job.id, queue))  # a task needs a reference
    await session.start(room=ctx.room, agent=FrontDesk(ctx.job.id))

if __name__ == "__main__":
    cli.run_app(server)
