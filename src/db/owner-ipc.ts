import { lstatSync, mkdtempSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The operating system refuses longer socket paths. */
const pathCharsMax = 100
/** A line holds a question, or a status with an error message. */
const lineCharsMax = 64 * 1024
/** Long enough for a long sync; a frozen owner must not keep callers waiting for ever. */
const answerWithinMsDefault = 30_000
const socketName = 'owner.sock'
/** A file in the data folder that names the private folder of the socket, when the data folder cannot hold it. */
const pointerName = 'owner.folder'

interface OwnerServerOptions {
  folder: string
  answer: (question: string) => Promise<object>
  /** Called for each place that cannot hold the socket. After the second failure, no process can ask this one. */
  onFailure: (error: unknown) => void
}

/**
 * The owner's end of the socket on which processes that share a data folder talk. The socket lies in the data folder.
 * If its path is too long, or the volume cannot hold sockets, it lies in a temporary folder with a random name that
 * only this user may open, so that nobody can replace it.
 */
export class OwnerServer {
  readonly #folder: string
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  readonly #onFailure: (error: unknown) => void
  #isElsewhere = false

  constructor({ folder, answer, onFailure }: OwnerServerOptions) {
    this.#folder = folder
    this.#onFailure = onFailure
    this.#server = createServer((socket) => {
      this.#sockets.add(socket)
      socket.on('error', () => socket.destroy())
      socket.on('close', () => this.#sockets.delete(socket))
      onMessage(socket, ({ id, question }) => {
        if (typeof question !== 'string') return
        answer(question).then((reply) => socket.write(`${JSON.stringify({ id, ...reply })}\n`))
      })
    })
    this.#server.on('error', (error) => {
      onFailure(error)
      if (!this.#server.listening && !this.#isElsewhere) this.#listenElsewhere()
    })
    this.#server.unref()
    // A killed owner leaves its socket behind.
    removeSocket(folder)
    const path = join(folder, socketName)
    if (path.length > pathCharsMax) this.#listenElsewhere()
    else this.#server.listen(path)
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
    removeSocket(this.#folder)
  }

  #listenElsewhere(): void {
    this.#isElsewhere = true
    try {
      const elsewhere = mkdtempSync(join(tmpdir(), 'callbook-'))
      writeFileSync(join(this.#folder, pointerName), elsewhere, { mode: 0o600 })
      this.#server.listen(join(elsewhere, socketName))
    } catch (error) {
      this.#onFailure(error)
    }
  }
}

/** Where the owner's socket is. @throws when other users may write to the folder that holds it */
function findSocket(folder: string): string {
  return join(findElsewhere(folder) ?? folder, socketName)
}

/** The temporary folder that the owner has made for the socket, if any. */
function findElsewhere(folder: string): string | null {
  const pointer = join(folder, pointerName)
  const written = lstatSync(pointer, { throwIfNoEntry: false })
  if (!written) return null
  const elsewhere = readFileSync(pointer, 'utf8')
  const found = lstatSync(elsewhere)
  // When the system cleans up temporary folders, another user may make one of the same name.
  const isPrivate = found.isDirectory() && found.uid === written.uid && (found.mode & 0o077) === 0
  if (!isPrivate) throw new Error(`${elsewhere} is not a private folder of the user who runs the service`)
  return elsewhere
}

function removeSocket(folder: string): void {
  const removals = [
    () => rmSync(join(folder, socketName), { force: true }),
    () => {
      const elsewhere = findElsewhere(folder)
      if (elsewhere === null) return
      rmSync(join(elsewhere, socketName), { force: true })
      rmdirSync(elsewhere)
    },
    () => rmSync(join(folder, pointerName), { force: true }),
  ]
  for (const remove of removals) {
    try {
      remove()
    } catch {
      // Gone already, or not ours to remove. If it is in the way, listening fails and is reported.
    }
  }
}

interface Message {
  id: number
  [field: string]: unknown
}

/** Reads one JSON object a line. Closes the connection at the first line that is too long or anything else. */
function onMessage(socket: Socket, receive: (message: Message) => void): void {
  let rest = ''
  socket.setEncoding('utf8')
  socket.on('data', (data) => {
    const lines = (rest + data).split('\n')
    rest = lines.pop() ?? ''
    const messages = lines.map(parseMessage)
    for (const message of messages) if (message) receive(message)
    if (messages.includes(null) || rest.length > lineCharsMax) {
      socket.destroy(new Error('The other end of the socket is not a process of this service'))
    }
  })
}

function parseMessage(line: string): Message | null {
  try {
    const value: Message | null = JSON.parse(line)
    return typeof value?.id === 'number' ? value : null
  } catch {
    return null
  }
}

/** Asks the owner of a folder. After a broken connection, the next question opens another. */
export class OwnerClient {
  readonly #folder: string
  readonly #answerWithinMs: number
  readonly #waiting = new Map<number, { resolve(reply: object): void; reject(error: Error): void }>()
  #socket: Socket | null = null
  #lastId = 0

  constructor(folder: string, answerWithinMs = answerWithinMsDefault) {
    this.#folder = folder
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
    this.#fail(new Error('The connection to the owner was closed'))
  }

  #connect(): Socket {
    if (this.#socket) return this.#socket
    const socket = connect(findSocket(this.#folder))
    this.#socket = socket
    socket.unref()
    socket.on('error', (error) => this.#lose(socket, error))
    socket.on('close', () => this.#lose(socket, new Error('The owner of the folder has ended')))
    onMessage(socket, ({ id, ...reply }) => {
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
