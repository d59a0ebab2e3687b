import { describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { ROOT_CONTEXT, SpanStatusCode, TraceFlags, trace } from '@opentelemetry/api'
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { BasicTracerProvider, BatchSpanProcessor, type SpanExporter } from '@opentelemetry/sdk-trace-base'
import { startService } from '../../support/service.ts'

const service = await startService()
const project = await service.mintProject()

type Exporter = typeof JsonExporter | typeof ProtobufExporter
type Options = NonNullable<ConstructorParameters<Exporter>[0]>
const gzip = 'gzip' as Options['compression']
const startMs = Date.parse('2026-01-31T09:30:00Z')

/** A session of one turn, and a span of something else, by the real SDK. */
async function exportSession(exporter: SpanExporter, words: string): Promise<string> {
  const provider = new BasicTracerProvider({ spanProcessors: [new BatchSpanProcessor(exporter)] })
  const traceId = randomBytes(16).toString('hex')
  const parent = { traceId, spanId: randomBytes(8).toString('hex'), traceFlags: TraceFlags.SAMPLED }
  const context = trace.setSpanContext(ROOT_CONTEXT, parent)
  const end = (scope: string, name: string, seconds: [number, number], attributes = {}) => {
    const [from, to] = seconds.map((each) => startMs + each * 1_000)
    const span = provider.getTracer(scope).startSpan(name, { startTime: from ?? 0, attributes }, context)
    span
      .addEvent('state', { list: ['a', 'b'] })
      .setStatus({ code: SpanStatusCode.OK })
      .end(to)
  }
  end('livekit-agents', 'user_turn', [1, 2], {
    'lk.pii.user_transcript': words,
    'lk.end_of_turn_delay': 0.25,
  })
  end('livekit-agents', 'agent_turn', [2, 3.5], { 'lk.pii.response.text': 'At nine.', 'lk.e2e_latency': 1 })
  end('@opentelemetry/instrumentation-http', 'GET', [2, 2.5], { 'http.url': 'https://example.com' })
  end('livekit-agents', 'agent_session', [0, 9.5], { list: ['a', 1], 'lk.sip.callID': 'SCL_1' })
  await provider.forceFlush()
  await provider.shutdown()
  return traceId
}

describe('the exporters of OpenTelemetry', () => {
  test.each([
    ['JSON', JsonExporter, undefined],
    ['JSON, compressed', JsonExporter, gzip],
    ['protobuf', ProtobufExporter, undefined],
    ['protobuf, compressed', ProtobufExporter, gzip],
  ] as const)('are understood: %s', async (_, OTLPTraceExporter, compression) => {
    const exporter = new OTLPTraceExporter({
      url: `${service.url}/ingest/otlp/v1/traces`,
      headers: { Authorization: `Bearer ${project.ingestKey}` },
      ...(compression ? { compression } : {}),
    })
    const words = `When do you open? ${'äöü 🕘 '.repeat(200)}`
    const id = await exportSession(exporter, words)
    const call = await (await project.fetch(`/v1/calls/${id}`)).json()
    expect(call).toMatchObject({
      id,
      status: 'completed',
      duration: 9.5,
      isEngaged: true,
      createdAt: '2026-01-31T09:30:00.000Z',
      transcript: [
        { role: 'user', content: words.trim() },
        { role: 'assistant', content: 'At nine.' },
      ],
    })
    const details = await (await project.fetch(`/v1/calls/${id}/details`)).json()
    expect(details).toMatchObject({
      source: 'livekit',
      direction: 'outbound',
      latencyMs: 1_000,
      metadata: { endOfTurnDelayMs: 250 },
    })
  })

  test('hear that their key is not known', async () => {
    for (const OTLPTraceExporter of [JsonExporter, ProtobufExporter]) {
      const exporter = new OTLPTraceExporter({
        url: `${service.url}/ingest/otlp/v1/traces`,
        headers: { Authorization: `Bearer ck_ingest_${'0'.repeat(60)}` },
      })
      const failures = await exportSession(exporter, 'hi').catch((errors) => errors)
      const data = expect.stringContaining('The key is unknown or has been revoked.')
      expect(failures).toEqual([expect.objectContaining({ code: 401, data })])
    }
  })
})
