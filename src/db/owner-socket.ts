import { createHash } from 'node:crypto'
import { existsSync, rmSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

/** Longer paths of sockets are refused by the operating system. */
const pathCharsMax = 100
/** An owner may be in the middle of a long sync; one that is frozen must not have its askers wait for ever. */
const answerWithinMsDefault = 30_000

/**
 * Where the process that owns a folder hears the others on this machine: at the first of these that can be had. A
 * volume may be of a kind that holds no sockets.
 */
function socketPaths(folder: string): [string, ...string[]] {
  const path = join(folder, 'owner.sock')
  const digest = createHash('sha256').update(folder).digest('hex').slice(0, 24)
  const elsewhere = join(tmpdir(), `callbook-${digest}.sock`)
  return path.length <= pathCharsMax ? [path, elsewhere] : [elsewhere]
}

interface OwnerSocketOptions {
  folder: string
  answer: (question: string) => Promise<object>
  /** Told of each place where there can be no socket; without any nobody is heard. */
  onFailure: (error: Error) => void
}

/** Answers each line, a JSON value, with another. */
export class OwnerSocket {
  readonly #paths: string[]
  readonly #server: Server
  readonly #sockets = new Set<Socket>()

  constructor({ folder, answer, onFailure }: OwnerSocketOptions) {
    this.#paths = socketPaths(folder)
    this.#server = createServer((socket) => {
      this.#sockets.add(socket)
      socket.on('error', () => socket.destroy())
      socket.on('close', () => this.#sockets.delete(socket))
      createInterface({ input: socket }).on('line', (line) => {
        const { id, question }: { id: number; question: string } = JSON.parse(line)
        answer(question).then((reply) => socket.write(`${JSON.stringify({ id, ...reply })}\n`))
      })
    })
    this.#server.on('error', (error) => {
      onFailure(error)
      if (this.#server.listening) return
      this.#paths.shift()
      this.#listen()
    })
    this.#server.unref()
    this.#listen()
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
    const [path] = this.#paths.splice(0)
    if (path !== undefined) remove(path)
  }

  #listen(): void {
    const [path] = this.#paths
    if (path === undefined) return
    // Of an owner that died.
    remove(path)
    this.#server.listen(path)
  }
}

function remove(path: string): void {
  try {
    rmSync(path, { force: true })
  } catch {
    // It is another user's: listening there fails as well, and is told.
  }
}

/** Asks the owner of a folder; a connection that breaks is made again for the next question. */
export class OwnerLine {
  readonly #paths: [string, ...string[]]
  readonly #answerWithinMs: number
  readonly #waiting = new Map<number, { resolve(reply: object): void; reject(error: Error): void }>()
  #socket: Socket | null = null
  #lastId = 0

  constructor(folder: string, answerWithinMs = answerWithinMsDefault) {
    this.#paths = socketPaths(folder)
    this.#answerWithinMs = answerWithinMs
  }

  async ask(question: string): Promise<object> {
    const socket = this.#connect()
    const id = ++this.#lastId
    const timer = setTimeout(() => this.#giveUp(id), this.#answerWithinMs)
    timer.unref()
    try {
      return await new Promise((resolve, reject) => {
        this.#waiting.set(id, { resolve, reject })
        socket.write(`${JSON.stringify({ id, question })}\n`)
      })
    } finally {
      clearTimeout(timer)
    }
  }

  close(): void {
    this.#socket?.destroy()
    this.#fail(new Error('The line to the owner was closed'))
  }

  #connect(): Socket {
    if (this.#socket) return this.#socket
    const socket = connect(this.#paths.find((path) => existsSync(path)) ?? this.#paths[0])
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

  #giveUp(id: number): void {
    this.#waiting.get(id)?.reject(new Error('The owner of the folder does not answer'))
    this.#waiting.delete(id)
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
