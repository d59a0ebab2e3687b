// A LiveKit agent for Node that sends its calls to Callbook while they happen, and answers from its knowledge.
// Set CALLBOOK_URL, CALLBOOK_INGEST_KEY (an ingest key) and CALLBOOK_SEARCH_KEY (an API key of the scope `search`).
import { fileURLToPath } from 'node:url'
import { cli, defineAgent, type JobContext, llm, ServerOptions, voice } from '@livekit/agents'
import { z } from 'zod'

async function send(method: string, path: string, key: string, content: object, more = {}) {
  const headers = { Authorization: `Bearer ${process.env[key]}`, 'Content-Type': 'application/json', ...more }
  const body = JSON.stringify(content)
  const answer = await fetch(process.env.CALLBOOK_URL + path, { method, headers, body })
  return answer.ok ? await answer.json() : Promise.reject(new Error(await answer.text()))
}

// A failure to store the call must never break it.
const put = (id: string, call: object) =>
  send('PUT', `/ingest/calls/${id}`, 'CALLBOOK_INGEST_KEY', call).catch((error) => console.warn(error))

const turnsOf = (items: readonly llm.ChatItem[]) =>
  items.flatMap((item) => {
    if (item.type !== 'message' || !/^(user|assistant)$/.test(item.role) || !item.textContent) return []
    return [{ role: item.role, content: item.textContent }]
  })

const searchKnowledge = (callId: string) =>
  llm.tool({
    name: 'search_knowledge',
    description: 'Search what the company knows. Use it for every question about the company.',
    parameters: z.object({ query: z.string() }),
    async execute({ query }) {
      const own = { 'X-Call-Id': callId } // the call's page shows the question
      return (await send('POST', '/integrations/tool', 'CALLBOOK_SEARCH_KEY', { query }, own)).result
    },
  })

const models = { stt: 'deepgram/nova-3', llm: 'openai/gpt-4.1-mini', tts: 'cartesia/sonic-3' } as const
export async function start(ctx: JobContext, session = new voice.AgentSession(models)): Promise<void> {
  const { attributes: sip } = await ctx.waitForParticipant()
  const direction = sip['sip.ruleID'] ? 'inbound' : sip['sip.callID'] ? 'outbound' : 'web'
  const numbers = [sip['sip.phoneNumber'], sip['sip.trunkPhoneNumber']]
  const [callerNumber, calledNumber] = direction === 'outbound' ? numbers.reverse() : numbers
  const details = { agent: { id: 'front-desk' }, direction }
  let sent = put(ctx.job.id, { status: 'live', callerNumber, calledNumber, details })
  session.on(voice.AgentSessionEventTypes.ConversationItemAdded, () => {
    const turns = turnsOf(session.history.items) // from the beginning: what is stored already is skipped
    sent = sent.then(() => put(ctx.job.id, { appendTranscript: { at: 0, turns } }))
  })
  const agent = new voice.Agent({
    instructions: 'You are the front desk.',
    tools: [searchKnowledge(ctx.job.id)],
  })
  await session.start({ room: ctx.room, agent })
}

export async function end(ctx: JobContext): Promise<void> {
  const { events, chatHistory, timestamp, startedAt } = ctx.makeSessionReport()
  const endedReason = events.find((event) => event.type === 'close')?.reason
  const ended = { status: 'completed', endedReason, duration: (timestamp - startedAt) / 1_000 }
  await put(ctx.job.id, { ...ended, transcript: turnsOf(chatHistory.items) })
}

const file = fileURLToPath(import.meta.url)
export default defineAgent({ entry: (ctx) => ctx.connect().then(() => start(ctx)), onSessionEnd: end })
if (process.argv[1] === file) cli.runApp(new ServerOptions({ agent: file }))
