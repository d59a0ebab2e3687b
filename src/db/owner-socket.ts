import { createHash } from 'node:crypto'
import { rmSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

/** Longer paths of sockets are refused by the operating system. */
const pathCharsMax = 100

/** Where the process that owns a folder hears the others on this machine. */
function socketPath(folder: string): string {
  const path = join(folder, 'owner.sock')
  if (path.length <= pathCharsMax) return path
  const digest = createHash('sha256').update(folder).digest('hex').slice(0, 24)
  return join(tmpdir(), `callbook-${digest}.sock`)
}

/** Answers each line, a JSON value, with another. */
export class OwnerSocket {
  readonly #path: string
  readonly #server: Server
  readonly #sockets = new Set<Socket>()

  constructor(folder: string, answer: (question: string) => Promise<object>) {
    this.#path = socketPath(folder)
    // Of an owner that died.
    rmSync(this.#path, { force: true })
    this.#server = createServer((socket) => {
      this.#sockets.add(socket)
      socket.on('error', () => socket.destroy())
      socket.on('close', () => this.#sockets.delete(socket))
      createInterface({ input: socket }).on('line', (line) => {
        const { id, question }: { id: number; question: string } = JSON.parse(line)
        answer(question).then((reply) => socket.write(`${JSON.stringify({ id, ...reply })}\n`))
      })
    })
    this.#server.listen(this.#path)
    this.#server.unref()
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
    rmSync(this.#path, { force: true })
  }
}

/** Asks the owner of a folder; a connection that breaks is made again for the next question. */
export class OwnerLine {
  readonly #path: string
  readonly #waiting = new Map<number, { resolve(reply: object): void; reject(error: Error): void }>()
  #socket: Socket | null = null
  #lastId = 0

  constructor(folder: string) {
    this.#path = socketPath(folder)
  }

  ask(question: string): Promise<object> {
    const socket = this.#connect()
    const id = ++this.#lastId
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject })
      socket.write(`${JSON.stringify({ id, question })}\n`)
    })
  }

  close(): void {
    this.#socket?.destroy()
    this.#fail(new Error('The line to the owner was closed'))
  }

  #connect(): Socket {
    if (this.#socket) return this.#socket
    const socket = connect(this.#path)
    this.#socket = socket
    socket.unref()
    socket.on('error', (error) => this.#lose(socket, error))
    socket.on('close', () => this.#lose(socket, new Error('The owner of the folder has gone')))
    createInterface({ input: socket }).on('line', (line) => {
      const { id, ...reply }: { id: number } = JSON.parse(line)
      this.#waiting.get(id)?.resolve(reply)
      this.#waiting.delete(id)
    })
    return socket
  }

  #lose(socket: Socket, error: Error): void {
    if (this.#socket !== socket) return
    this.#socket = null
    this.#fail(error)
  }

  #fail(error: Error): void {
    for (const { reject } of this.#waiting.values()) reject(error)
    this.#waiting.clear()
  }
}
