import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { RequestDecoder } from '../../../src/sources/otel/protobuf.ts'
import { finished } from '../../../src/threads/time-slices.ts'
import fc from '../../support/fast-check.ts'

type Value = string | number | boolean

/** A span of a test: times in seconds from the start of the session. */
export interface TestSpan {
  scope: string
  name: string
  id: string
  parent?: string
  from: number
  to: number
  attributes?: Record<string, Value>
  events?: { name: string; attributes: Record<string, Value> }[]
  service?: string
  /** Attributes of its resource. */
  resource?: Record<string, Value>
}

const startSeconds = 1_700_000_000

function wireValueOf(value: Value): object {
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value }
}

function attributesOf(attributes: Record<string, Value> = {}) {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: wireValueOf(value) }))
}

function nanoseconds(seconds: number): string {
  return `${startSeconds + Math.floor(seconds)}${String(Math.round((seconds % 1) * 1e9)).padStart(9, '0')}`
}

/** Spans of one trace as a request in OTLP/JSON. */
export function requestOf(spans: readonly TestSpan[], traceId: string): object {
  return {
    resourceSpans: spans.map(({ scope, name, id, parent, from, to, attributes, events = [], ...of }) => ({
      resource: {
        attributes: attributesOf({ ...of.resource, ...(of.service ? { 'service.name': of.service } : {}) }),
      },
      scopeSpans: [
        {
          scope: { name: scope },
          spans: [
            {
              traceId,
              spanId: hex(id),
              parentSpanId: parent ? hex(parent) : '',
              name,
              kind: 1,
              startTimeUnixNano: nanoseconds(from),
              endTimeUnixNano: nanoseconds(to),
              attributes: attributesOf(attributes),
              events: events.map((event) => ({
                timeUnixNano: nanoseconds(from),
                name: event.name,
                attributes: attributesOf(event.attributes),
              })),
              status: {},
            },
          ],
        },
      ],
    })),
  }
}

/** A span's id from a name that people can read. */
function hex(id: string): string {
  return Buffer.from(id.padEnd(8, '.').slice(0, 8)).toString('hex')
}

const secret = 'never-store-this'

function spansIn(file: string): Omit<TestSpan, 'scope'>[] {
  return JSON.parse(readFileSync(resolve(import.meta.dir, file), 'utf8'))
}

/** A session with a greeting, words before a tool, an interruption, a transfer and a typed message. */
export const livekitSession: TestSpan[] = spansIn('livekit-session.json').map((span) => ({
  scope: 'livekit-agents',
  ...span,
}))

/** What the framework itself has as the history of that session. */
export const livekitHistory = [
  ['assistant', 'Hello, this is Ada.'],
  ['user', 'When do you open?'],
  ['assistant', 'Let me check.'],
  ['assistant', 'At nine.'],
  ['user', 'And on Sunday?'],
  ['assistant', 'On Sunday we'],
] as const

/** A session with a greeting, segments of one message, a tool, and the last sentence of a voice only. */
export const pipecatSession: TestSpan[] = spansIn('pipecat-session.json').map((span) => ({
  scope: 'pipecat',
  service: 'front-desk',
  ...span,
  attributes: { ...span.attributes, 'settings.api_key': secret, 'gen_ai.system_instructions': secret },
}))

export const pipecatHistory = [
  ['assistant', 'Hello, this is Ada.'],
  ['user', 'When do you open?'],
  ['assistant', 'Let me check.'],
  ['assistant', 'We open on Monday. That is at nine.'],
] as const

const folder = resolve(import.meta.dir, '../../../../shared/data/otel')

/** The spans of a real session, as one request for each; null where the file is not there. */
export function capturedRequests(name: string): object[] | null {
  const file = `${folder}/${name}.jsonl`
  if (!existsSync(file)) return null
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n')
  return lines
    .filter((line) => !line.includes('"path":'))
    .map((line) => {
      const span = JSON.parse(line, (_, value, context?: { source: string }) =>
        // Nanoseconds need more digits than a double has.
        typeof value === 'number' && value > Number.MAX_SAFE_INTEGER ? (context?.source ?? value) : value,
      )
      const scalars = Object.entries(span.attrs as Record<string, unknown>).filter(
        (entry): entry is [string, Value] => typeof entry[1] !== 'object',
      )
      return {
        resourceSpans: [
          {
            resource: { attributes: attributesOf({ 'service.name': span.resource['service.name'] }) },
            scopeSpans: [
              {
                scope: { name: span.scope.split('@')[0] },
                spans: [
                  {
                    traceId: span.trace,
                    spanId: span.span,
                    parentSpanId: span.parent,
                    name: span.name,
                    startTimeUnixNano: span.start,
                    endTimeUnixNano: span.end,
                    attributes: attributesOf(Object.fromEntries(scalars)),
                    events: span.events.map(
                      ([name, , attributes]: [string, number, Record<string, Value>]) => ({
                        name,
                        attributes: attributesOf(attributes),
                      }),
                    ),
                  },
                ],
              },
            ],
          },
        ],
      }
    })
}

/** One protobuf body as it was sent; null where the file is not there. */
export function capturedBody(): Uint8Array<ArrayBuffer> | null {
  const file = `${folder}/one-export.protobuf`
  return existsSync(file) ? new Uint8Array(readFileSync(file)) : null
}

/** A request in protobuf as one in JSON for each of its spans. */
export function split(bytes: Uint8Array): object[] {
  const decoder = new RequestDecoder()
  const request = finished(decoder.traces(bytes))
  const { resourceSpans = [] } = request as { resourceSpans?: { scopeSpans: { spans: Uint8Array[] }[] }[] }
  return resourceSpans.flatMap((ofResource) =>
    ofResource.scopeSpans.flatMap((ofScope) =>
      ofScope.spans.map((span) => ({
        resourceSpans: [{ ...ofResource, scopeSpans: [{ ...ofScope, spans: [decoder.span(span)] }] }],
      })),
    ),
  )
}

/** Requests of the same spans, cut anywhere, in any order, some of them again. */
export function splitAndShuffled(requests: readonly object[]) {
  return fc
    .tuple(
      fc.shuffledSubarray([...requests], { minLength: requests.length }),
      fc.subarray([...requests]),
      fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 6 }),
    )
    .map(([order, repeated, sizes]) => {
      const all = [...order, ...repeated]
      const batches: object[] = []
      for (let at = 0, batch = 0; at < all.length; batch++) {
        const size = sizes[batch % sizes.length] ?? 1
        batches.push(joined(all.slice(at, at + size)))
        at += size
      }
      return batches
    })
}

/** Requests as one. */
export function joined(requests: readonly object[]): object {
  return {
    resourceSpans: requests.flatMap((request) => (request as { resourceSpans: object[] }).resourceSpans),
  }
}
