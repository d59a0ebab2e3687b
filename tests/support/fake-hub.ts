import { createHash } from 'node:crypto'
import { atEnd } from './at-end.ts'

type Answer = (name: string, bytes: Buffer) => Response | Promise<Response>

export interface FakeHub {
  url: string
  /** The token of each request for a file, in order, by the host that it reached. */
  tokens: { host: 'hub' | 'storage'; authorization: string | null }[]
  /** What the next requests for this file get, in order, instead of the file. `list` is the list of files. */
  next(name: string, ...answers: Answer[]): void
  stop(): Promise<void>
}

/** The Hugging Face hub with one model, as far as a download uses it. Large files are on another host, as there. */
export function startHub(model: string, files: Record<string, Buffer>): FakeHub {
  const revision = 'c0ffee'
  const tokens: FakeHub['tokens'] = []
  const planned = new Map<string, Answer[]>()
  const answer = async (name: string, bytes: Buffer) =>
    (await planned.get(name)?.shift()?.(name, bytes)) ?? new Response(new Uint8Array(bytes))
  const storage = Bun.serve({
    port: 0,
    fetch(request) {
      tokens.push({ host: 'storage', authorization: request.headers.get('authorization') })
      const name = new URL(request.url).pathname.slice(1)
      return answer(name, files[name] ?? Buffer.alloc(0))
    },
  })
  const hub = Bun.serve({
    port: 0,
    fetch(request) {
      const { pathname } = new URL(request.url)
      if (pathname === `/api/models/${model}/revision/main`) {
        const siblings = Object.entries(files).map(listed)
        return answer('list', Buffer.from(JSON.stringify({ id: model, sha: revision, siblings })))
      }
      const name = pathname.replace(`/${model}/resolve/${revision}/`, '')
      const bytes = files[name]
      // As the hub answers for a model that it does not have.
      if (!bytes) return new Response('Invalid username or password.', { status: 401 })
      tokens.push({ host: 'hub', authorization: request.headers.get('authorization') })
      if (isLarge(name)) return Response.redirect(`http://localhost:${storage.port}/${name}`, 302)
      return answer(name, bytes)
    },
  })
  return {
    url: `http://127.0.0.1:${hub.port}`,
    tokens,
    next: (name, ...answers) => void planned.set(name, answers),
    stop: atEnd(async () => {
      await hub.stop(true)
      await storage.stop(true)
    }),
  }
}

function isLarge(name: string): boolean {
  return name.endsWith('.onnx')
}

function listed([rfilename, bytes]: [string, Buffer]) {
  const blobId = createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex')
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  return { rfilename, size: bytes.length, ...(isLarge(rfilename) ? { lfs: { sha256 } } : { blobId }) }
}
