import { connect, type Socket } from 'node:net'

export interface RawAnswer {
  /** Null if there was no answer. */
  status: number | null
  headers: Headers
  body: string
}

interface RawOptions {
  /** The address the client speaks from; all of 127.0.0.0/8 is this machine. */
  localAddress?: string
  /** Ends the sending side once everything is written. */
  end?: boolean
  /** Gives up waiting for an answer after this long. */
  waitMs?: number
}

/** Sends one request as bytes, which may be invalid HTTP, and resolves to the first answer. */
export function rawRequest(
  url: string,
  request: string | Buffer,
  options: RawOptions = {},
): Promise<RawAnswer> {
  const { localAddress, end = false, waitMs = 2_000 } = options
  const { port, hostname } = new URL(url)
  const socket = connect({ port: Number(port), host: hostname, ...(localAddress ? { localAddress } : {}) })
  return new Promise((resolve) => {
    let received = ''
    const finish = () => {
      clearTimeout(timer)
      socket.destroy()
      resolve(parseAnswer(received))
    }
    const timer = setTimeout(finish, waitMs)
    socket.on('data', (data) => {
      received += data.toString('latin1')
      if (isWhole(received)) finish()
    })
    socket.on('close', finish)
    // A server that refuses the rest of a body resets the connection after its answer.
    socket.on('error', finish)
    socket.on('connect', () => (end ? socket.end(request) : socket.write(request)))
  })
}

/** Opens a connection and sends these bytes. `received` returns what came back so far. */
export async function opened(url: string, text: string): Promise<{ socket: Socket; received: () => string }> {
  const { port, hostname } = new URL(url)
  const socket = connect(Number(port), hostname)
  let received = ''
  socket.on('data', (part) => {
    received += part.toString('latin1')
  })
  socket.on('error', () => undefined)
  await new Promise((resolve) => socket.once('connect', resolve))
  if (text) socket.write(text)
  return { socket, received: () => received }
}

/** The lines of a request's head, with a usual `Host` unless one is given. */
export function head(line: string, headers: Record<string, string> = {}): string {
  const all = { Host: 'localhost', ...headers }
  return `${[line, ...Object.entries(all).map(([name, value]) => `${name}: ${value}`)].join('\r\n')}\r\n\r\n`
}

function isWhole(received: string): boolean {
  if (!received.includes('\r\n\r\n')) return false
  const { status, headers, body } = parseAnswer(received)
  return status !== null && body.length >= lengthOf(headers)
}

function parseAnswer(received: string): RawAnswer {
  const [top = '', ...rest] = received.split('\r\n\r\n')
  const [line = '', ...fields] = top.split('\r\n')
  const headers = new Headers()
  for (const field of fields) {
    const colon = field.indexOf(':')
    headers.append(field.slice(0, colon), field.slice(colon + 1).trim())
  }
  const status = /^HTTP\/1\.[01] (\d{3})/.exec(line)
  // Bytes after the body belong to another answer.
  const body = rest.join('\r\n\r\n').slice(0, lengthOf(headers))
  return { status: status ? Number(status[1]) : null, headers, body }
}

function lengthOf(headers: Headers): number {
  return Number(headers.get('content-length') ?? Number.POSITIVE_INFINITY)
}
