import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Webhook } from 'standardwebhooks'
import { atEnd } from './at-end.ts'

/** An event as it arrives at an endpoint. */
export interface Received {
  path: string
  headers: IncomingHttpHeaders
  body: string
  type: string
  timestamp: string
  data: {
    seq: number
    ref: string
    id?: string
    call?: Record<string, unknown>
    item?: Record<string, unknown>
    erasure?: unknown
    alert?: Record<string, unknown>
  }
  at: number
}

export interface Receiver {
  url: string
  /** In the order of arrival. */
  received: Received[]
  /** Connections that are open now. */
  open(): number
  /** Answers the next requests; with 204 by default. */
  answer: (event: Received, response: ServerResponse) => void
  close(): Promise<void>
}

/** An endpoint on loopback. */
export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = []
  let open = 0
  const server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part) => parts.push(part))
    request.on('end', () => {
      const body = Buffer.concat(parts).toString()
      const event = {
        path: request.url ?? '',
        headers: request.headers,
        body,
        at: performance.now(),
        ...JSON.parse(body),
      }
      received.push(event)
      receiver.answer(event, response)
    })
  })
  server.on('connection', (socket) => {
    open++
    socket.on('close', () => open--)
    socket.on('error', () => undefined)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    open: () => open,
    answer: accept,
    close: atEnd(
      () =>
        new Promise<void>((resolve) => {
          server.close(() => resolve())
          server.closeAllConnections()
        }),
    ),
  }
  return receiver
}

export function accept(_event: unknown, response: ServerResponse): void {
  response.writeHead(204).end()
}

/** @throws when no signature is that of the secret */
export function verify(secret: string, { body, headers }: Received): void {
  new Webhook(secret).verify(body, headers as Record<string, string>)
}

/** Lets the service send webhooks to loopback. */
export const receiverEnv = { WEBHOOK_ALLOW_PRIVATE: '127.0.0.1' }
