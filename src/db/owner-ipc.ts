import { lstatSync, mkdtempSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { addAbortSignal } from 'node:stream'

/** The operating system refuses longer socket paths. */
const pathCharsMax = 100
/** A line is a question, or a status with an error message. */
const lineCharsMax = 64 * 1024
/** Long enough for a long sync. */
const answerWithinMs = 30_000
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
 * The owner's end of the socket on which processes that share a data folder talk: a line with a question, then a line
 * with the answer as JSON. The socket is in the data folder. If its path is too long, or the volume cannot hold
 * sockets, it is in a temporary folder with a random name that only this user may open, so that nobody can replace it.
 */
export class OwnerServer {
  readonly #folder: string
  readonly #server: Server
  readonly #onFailure: (error: unknown) => void
  #isElsewhere = false

  constructor({ folder, answer, onFailure }: OwnerServerOptions) {
    this.#folder = folder
    this.#onFailure = onFailure
    this.#server = createServer((socket) => {
      socket.unref()
      readLine(socket)
        .then(answer)
        .then((reply) => socket.end(`${JSON.stringify(reply)}\n`))
        // The other process sees the broken connection.
        .catch(() => socket.destroy())
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

interface QuestionOptions {
  signal: AbortSignal
  withinMs?: number
}

/**
 * Asks the owner of the folder.
 * @throws when there is no owner, when it does not answer within `withinMs`, and when `signal` is aborted
 */
export async function askOwner(
  folder: string,
  question: string,
  { signal, withinMs = answerWithinMs }: QuestionOptions,
): Promise<object> {
  const socket = addAbortSignal(signal, connect(findSocket(folder)))
  socket.unref()
  socket.setTimeout(withinMs, () => socket.destroy(new Error('The owner of the folder does not answer')))
  try {
    socket.write(`${question}\n`)
    return toReply(await readLine(socket))
  } finally {
    socket.destroy()
  }
}

function readLine(socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    let line = ''
    socket.setEncoding('utf8')
    socket.on('data', (part) => {
      line += part
      if (line.endsWith('\n')) resolve(line.trimEnd())
      else if (line.length > lineCharsMax) reject(foreignError())
    })
    socket.on('error', reject)
    socket.on('close', () => reject(new Error('The other process has closed the connection')))
  })
}

function toReply(line: string): object {
  try {
    const reply: unknown = JSON.parse(line)
    if (typeof reply === 'object' && reply !== null) return reply
  } catch {
    // Not JSON: see below.
  }
  throw foreignError()
}

function foreignError(): Error {
  return new Error('The other end of the socket is not a process of this service')
}

/** Where the owner's socket is. @throws when other users may write to the folder that holds it */
function findSocket(folder: string): string {
  return join(findElsewhere(folder) ?? folder, socketName)
}

/** The temporary folder that the owner has made for the socket, if any. */
function findElsewhere(folder: string): string | null {
  const pointer = join(folder, pointerName)
  const pointerInfo = lstatSync(pointer, { throwIfNoEntry: false })
  if (!pointerInfo) return null
  const elsewhere = readFileSync(pointer, 'utf8')
  const info = lstatSync(elsewhere)
  // When the system cleans up temporary folders, another user may make one of the same name.
  const isPrivate = info.isDirectory() && info.uid === pointerInfo.uid && (info.mode & 0o077) === 0
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
