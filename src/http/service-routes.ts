import { timingSafeEqual } from 'node:crypto'
import { type Static, Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { bearerToken } from '../access/keys/token.ts'
import { forbidden, unavailable } from '../errors.ts'
import { named } from '../validation.ts'
import { version } from '../version.ts'
import type { PeerAddress } from './client-address.ts'
import { isLoopbackHost } from './host.ts'
import { jsonAnswer, problemAnswers } from './openapi.ts'

interface ServiceRoutesOptions {
  /** Why the service is not ready, in a sentence; null when it is. */
  notReadyBecause: () => Promise<string | null>
  /** What an operator should know although the service is ready, in a sentence; null when nothing is wrong. */
  problem: () => Promise<string | null>
  /** How far a replica is behind its primary; null without replication. */
  replication: () => Static<typeof Replication> | null
  metricsText: () => Promise<string>
  metricsToken: string | null
  /** Whether others reach the service, so that a request from this machine may be forwarded. */
  isPublished: boolean
  peerAddress: PeerAddress
}

const tags = ['Service']
const metricsExample = '# TYPE process_resident_memory_bytes gauge\nprocess_resident_memory_bytes 104857600\n'
/** Headers that proxies add to the requests they forward: the common ones and those of large providers. */
const forwardingHeader =
  /^(forwarded|via|x-forwarded-.+|x-real-ip|x-client-ip|x-original-.+|true-client-ip|cf-connecting-ip|fly-client-ip)$/
const Health = named('Health', { status: Type.String({ example: 'ok' }) })
const Replication = named('Replication', {
  lagMs: Type.Unsafe<number | null>({ type: 'number', nullable: true }),
  lastSyncAt: Type.Unsafe<number | null>({
    type: 'integer',
    nullable: true,
    description: 'Milliseconds since 1970.',
  }),
  failures: Type.Integer(),
})
const Readiness = named('Readiness', {
  status: Type.String({ example: 'ready' }),
  version: Type.String({ example: version, description: 'The version of Callbook.' }),
  problem: Type.Unsafe<string | null>({
    type: 'string',
    nullable: true,
    description: 'What needs an operator while reads and deletions work; null when nothing does.',
  }),
  replication: Type.Unsafe<Static<typeof Replication> | null>({
    ...Replication,
    nullable: true,
    description: 'null where nothing is replicated.',
  }),
})

/** Health, readiness and metrics, for operators. */
export function serviceRoutes({
  notReadyBecause,
  problem,
  replication,
  metricsText,
  metricsToken,
  isPublished,
  peerAddress,
}: ServiceRoutesOptions) {
  const mayReadMetrics = (request: Request) => {
    if (metricsToken !== null)
      return isSame(bearerToken(request.headers.get('authorization')) ?? '', metricsToken)
    return !isPublished && isFromHere(request, peerAddress(request))
  }

  return new Elysia()
    .get('/health', () => ({ status: 'ok' }), {
      detail: {
        tags,
        security: [],
        operationId: 'getHealth',
        summary: 'Check whether the process answers',
        responses: {
          200: jsonAnswer('The process answers.', Health),
          ...problemAnswers(['invalid_request', 'internal']),
        },
      },
    })
    .get(
      '/ready',
      async () => {
        const reason = await notReadyBecause()
        if (reason !== null) throw unavailable(reason)
        return { status: 'ready', version, problem: await problem(), replication: replication() }
      },
      {
        detail: {
          tags,
          security: [],
          operationId: 'getReadiness',
          summary: 'Check whether the database answers and startup is finished',
          responses: {
            200: jsonAnswer('The service is ready.', Readiness),
            ...problemAnswers(['invalid_request', 'unavailable', 'internal']),
          },
        },
      },
    )
    .get(
      '/metrics',
      async ({ request }) => {
        if (!mayReadMetrics(request))
          throw forbidden(
            'Send METRICS_TOKEN as the bearer token. Requests from this machine need none, unless PUBLIC_URL or TRUSTED_PROXIES is set.',
          )
        return new Response(await metricsText(), {
          headers: { 'Content-Type': 'text/plain; version=0.0.4; charset=utf-8' },
        })
      },
      {
        detail: {
          tags,
          security: [{ metricsToken: [] }, {}],
          operationId: 'getMetrics',
          summary: 'Prometheus metrics',
          responses: {
            200: {
              description: 'Prometheus text format.',
              content: { 'text/plain': { schema: { type: 'string', example: metricsExample } } },
            },
            ...problemAnswers(['invalid_request', 'forbidden', 'internal']),
          },
        },
      },
    )
}

/**
 * Whether the request comes from this machine, addresses it, and was not forwarded. `Host` reveals a foreign name that
 * resolves to us, and a proxy that adds no header.
 */
function isFromHere({ headers }: Request, peer: string | null): boolean {
  return isLoopback(peer) && isLoopbackHost(headers.get('host') ?? '') && !isForwarded(headers)
}

/** Whether the request has any header that proxies add. */
function isForwarded(headers: Headers): boolean {
  for (const name of headers.keys()) if (forwardingHeader.test(name)) return true
  return false
}

function isSame(a: string, b: string): boolean {
  const [ofA, ofB] = [Buffer.from(a), Buffer.from(b)]
  return ofA.length === ofB.length && timingSafeEqual(ofA, ofB)
}

function isLoopback(address: string | null): boolean {
  return address !== null && /^(::1|(::ffff:)?127\.\d+\.\d+\.\d+)$/i.test(address)
}
