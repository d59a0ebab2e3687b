// Runs scripts/examples/livekit_agent.ts with an imitated model, traced by OpenTelemetry; the caller types.
// Prints one line of JSON: the agent's own history and its tools.
import { initializeLogger, type JobContext, telemetry, voice } from '@livekit/agents'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node'
import { end, start } from '../../../../scripts/examples/livekit_agent.ts'

initializeLogger({ pretty: false, level: 'error' })
const fanout = new telemetry.FanoutSpanProcessor()
const provider = new NodeTracerProvider({
  spanProcessors: [fanout, new BatchSpanProcessor(new OTLPTraceExporter())],
})
provider.register()
telemetry.setTracerProvider(provider, {
  metadata: { 'callbook.call.id': 'by-spans' },
  registerSpanProcessor: (processor) => fanout.add(processor),
})

const found = 'When do you open?\nWe open at nine.'
const args = { query: 'When do you open?' }
const model = new voice.testing.FakeLLM([
  { input: 'When do you open?', content: 'Let me check.', toolCalls: [{ name: 'search_knowledge', args }] },
  { input: JSON.stringify(found), content: 'At nine.' },
  { input: found, content: 'At nine.' },
  { input: 'Thank you, bye', content: 'Goodbye.' },
])
const session = new voice.AgentSession({ llm: model })
const sip = {
  'sip.phoneNumber': '+15550100001',
  'sip.trunkPhoneNumber': '+15550100002',
  'sip.ruleID': 'SDR_1',
}
// There is no LiveKit server: the session runs without a room.
const ctx = {
  job: { id: 'by-code' },
  waitForParticipant: async () => ({ attributes: sip }),
  makeSessionReport: () => ({
    chatHistory: session.history,
    startedAt: startedAt,
    timestamp: Date.now(),
    events: [{ type: 'close', reason: 'user_initiated' }],
  }),
} as unknown as JobContext
const startedAt = Date.now()
await start(ctx, session)
for (const userInput of ['When do you open?', 'Thank you, bye']) await session.run({ userInput }).wait()
await session.close()
await end(ctx)
await provider.forceFlush()
const { items } = session.history
const turns = items.flatMap((item) =>
  item.type === 'message' && item.role !== 'system' ? [{ role: item.role, content: item.textContent }] : [],
)
const tools = items.flatMap((item) => {
  if (item.type === 'function_call') return [[item.name, item.args]]
  return item.type === 'function_call_output' ? [[item.name, JSON.parse(item.output)]] : []
})
console.log(JSON.stringify({ turns, tools }))
process.exit(0)
