import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { atEnd } from './at-end.ts'

type Answer = (response: ServerResponse, bytes: Buffer) => void

export interface FakeHub {
  url: string
  /** The files that were asked for, with the token. */
  requests: { name: string; token: string | undefined }[]
  /** How these files are answered from now on. */
  answers: Record<string, Answer>
  stop(): Promise<void>
}

/** Breaks off in the middle of a file. */
export const breaksOff: Answer = (response, bytes) => {
  response.writeHead(200, { 'content-length': bytes.length })
  response.write(bytes.subarray(0, bytes.length / 2), () => response.destroy())
}

/** The Hugging Face hub with one model, as far as a download uses it. */
export async function startHub(model: string, files: Record<string, Buffer>): Promise<FakeHub> {
  const server = createServer(({ url = '', headers }, response) => {
    const [repository, name = ''] = url.slice(1).split('/resolve/main/')
    hub.requests.push({ name, token: headers.authorization })
    const bytes = files[name]
    // As the hub answers for a model, or a file, that it does not have.
    if (repository !== model) response.writeHead(401).end('Invalid username or password.')
    else if (!bytes) response.writeHead(404).end('Entry not found')
    else if (headers.range)
      response.writeHead(206, { 'content-range': `bytes 0-0/${bytes.length}` }).end(bytes.subarray(0, 1))
    else if (hub.answers[name]) hub.answers[name](response, bytes)
    else response.writeHead(200, { 'content-length': bytes.length }).end(bytes)
  })
  const hub: FakeHub = {
    url: '',
    requests: [],
    answers: {},
    stop: atEnd(async () => {
      server.closeAllConnections()
      server.close()
    }),
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  hub.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return hub
}
