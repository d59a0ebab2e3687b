import { join } from 'node:path'
import type { Turn } from '../../src/calls/schemas.ts'
import { emptyDataset } from './dataset.ts'
import type { LoadRequest } from './load.ts'
import { latencyOf, startPaced } from './paced.ts'
import { runCommand } from './processes.ts'
import { checkoutOf } from './project.ts'
import { bodyOf } from './requests.ts'
import type { Options } from './runner.ts'
import { formatLatency, type Row } from './table.ts'
import type { Texts } from './texts.ts'

const callsCount = 160
const callsAtOnce = 40
const perSecond = 100
const seconds = 15
const msMax = { p50: 8, p99: 30 }
/** The size of what Vapi sends with each event besides the fields that are read. */
const promptChars = 4_000

/** A platform's webhook: from the event to the answer, before which the call is committed. */
export async function benchSources(texts: Texts, { main, start }: Options): Promise<Row[]> {
  const dataset = await emptyDataset()
  // The loads send the ingest key as bearer token, so it is the source's secret as well.
  const create = ['source', 'create', '--project', 'bench', '--platform', 'vapi', '--secret']
  const command = [join(checkoutOf(main), 'scripts/callbook.ts'), ...create, dataset.ingestKey, '--json']
  const { id }: { id: string } = JSON.parse(await runCommand(command, { DATA_DIR: dataset.folder }))
  const service = await start(dataset)
  const requests = [...interleaved(texts)].map(
    (event): LoadRequest => ({ method: 'POST', path: `/ingest/from/${id}`, body: JSON.stringify(event) }),
  )
  const load = { url: service.url, key: dataset.ingestKey, requests, repeats: 1 }
  const sent = startPaced({ ...load, requestsPerSecond: perSecond, secondsMax: seconds })
  const latency = latencyOf([await sent.done])
  const page = await bodyOf(service.url, { method: 'GET', path: '/v1/calls?limit=0', key: dataset.key })
  const { pagination }: { pagination: { total: number } } = JSON.parse(page)
  const isMet = latency.p50 <= msMax.p50 && latency.p99 <= msMax.p99 && latency.failed === 0
  return [
    {
      what: `POST of Vapi's events of ${pagination.total} calls, ${perSecond} a second`,
      measured: formatLatency(latency),
      target: `p50 ≤ ${msMax.p50}, p99 ≤ ${msMax.p99} ms`,
      isMet,
    },
  ]
}

/** The events of many calls, interleaved. */
function* interleaved(texts: Texts): Generator<object> {
  const said = texts.dialogues.flatMap(({ transcript }) => (transcript?.length ? [transcript] : []))
  for (let from = 0; from < callsCount; from += callsAtOnce) {
    const calls = Array.from({ length: callsAtOnce }, (_, n) =>
      eventsOf(from + n, said[(from + n) % said.length] ?? []),
    )
    for (let at = 0; calls.some(({ length }) => at < length); at++)
      for (const events of calls) yield* events.slice(at, at + 1)
  }
}

/** Start, the conversation after every other turn, end and report. */
function eventsOf(call: number, transcript: Turn[]): object[] {
  const startedAt = Date.UTC(2026, 0, 1) + call * 60_000
  const at = (second: number) => startedAt + second * 1_000
  const common = {
    call: {
      ...{ id: `vapi-${call}`, type: 'inboundPhoneCall', assistantId: 'front-desk' },
      createdAt: new Date(startedAt).toISOString(),
    },
    customer: { number: `+1555${String(call).padStart(7, '0')}` },
    phoneNumber: { number: '+15550100002' },
    assistant: {
      name: 'Front desk',
      model: { messages: [{ role: 'system', content: 'x'.repeat(promptChars) }] },
    },
  }
  const snapshots = transcript
    .map((_, turn) => turn + 1)
    .filter((turns) => turns % 2 === 0)
    .map((turns) => ({
      ...{ type: 'conversation-update', timestamp: at(turns * 4) },
      messagesOpenAIFormatted: transcript.slice(0, turns),
    }))
  const end = transcript.length * 4 + 4
  const messages = transcript.map(({ role, content }, turn) => ({
    ...{ role: role === 'user' ? 'user' : 'bot', message: content, secondsFromStart: turn * 4 },
  }))
  const report = {
    ...{ type: 'end-of-call-report', timestamp: at(end + 8), endedReason: 'customer-ended-call', cost: 0.08 },
    ...{ startedAt: new Date(startedAt).toISOString(), endedAt: new Date(at(end)).toISOString() },
    analysis: { summary: 'Asked for opening hours.', successEvaluation: 'true' },
    artifact: { messages },
  }
  const status = (name: string, second: number) => ({
    type: 'status-update',
    status: name,
    timestamp: at(second),
  })
  return [status('in-progress', 1), ...snapshots, status('ended', end), report].map((event) => ({
    message: { ...event, ...common },
  }))
}
