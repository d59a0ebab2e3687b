import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { atEnd } from '../../support/at-end.ts'

export interface FakeStorage {
  /** Such as http://127.0.0.1:4321. */
  origin: string
  /** Of the requests to a path, in order. */
  requests(path: string): IncomingMessage[]
  /** What a path answers from now on; 404 by default. The query is not part of the path. */
  answer(path: string, answer: Answer | Uint8Array): void
  close(): Promise<void>
}

type Answer = (response: ServerResponse, request: IncomingMessage) => void

/** A platform's API, or where it stores recordings, on loopback. */
export async function startStorage(): Promise<FakeStorage> {
  const answers = new Map<string, Answer>()
  const requests: IncomingMessage[] = []
  const pathOf = ({ url = '/' }: IncomingMessage) => url.split('?')[0] ?? ''
  const server = createServer((request, response) => {
    requests.push(request)
    const answer = answers.get(pathOf(request)) ?? status(404)
    answer(response, request)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: (path) => requests.filter((request) => pathOf(request) === path),
    answer: (path, answer) => answers.set(path, typeof answer === 'function' ? answer : bytes(answer)),
    close: atEnd(
      () =>
        new Promise<void>((resolve) => {
          server.close(() => resolve())
          server.closeAllConnections()
        }),
    ),
  }
}

export function status(code: number, headers: Record<string, string> = {}): Answer {
  return (response) => response.writeHead(code, headers).end('<Error>Expired</Error>')
}

export function redirect(location: string): Answer {
  return status(302, { location })
}

export function json(body: unknown): Answer {
  return (response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

/** @param type often wrong on real storages */
export function bytes(body: Uint8Array, type = 'application/octet-stream'): Answer {
  return (response) =>
    response.writeHead(200, { 'content-type': type, 'content-length': body.length }).end(body)
}

/** Ends the connection in the middle. */
export function cutOff(body: Uint8Array, { tellsLength }: { tellsLength: boolean }): Answer {
  return (response) => {
    response.writeHead(200, tellsLength ? { 'content-length': body.length } : {})
    response.write(body.subarray(0, body.length / 2), () => setTimeout(() => response.socket?.destroy(), 50))
  }
}

/** Sends the beginning, and then nothing. */
export function stalled(body: Uint8Array): Answer {
  return (response) => {
    response.writeHead(200, { 'content-length': body.length })
    response.write(body.subarray(0, body.length / 2))
  }
}
