import { readArguments } from './start/arguments.ts'
import { fail, type Listener, type ListenOptions, start } from './start/start.ts'

// Starts the service on Deno: `deno run -A src/deno.ts`. Its server keeps idle connections open for good.

/** The part of Deno that is used here. https://docs.deno.com/api/deno/http-server */
interface DenoHttp {
  serve(
    options: { port: number; hostname: string; onListen: () => void },
    handler: (request: Request, info: { remoteAddr: { hostname?: string } }) => Response | Promise<Response>,
  ): { addr: { port: number }; shutdown(): Promise<void> }
}

const peers = new WeakMap<Request, string>()
// Deno warns when its own signal is read, because it aborts that after every answer.
const neverAborted = new AbortController().signal

try {
  const { isDemo } = readArguments()
  const peerAddress = (request: Request) => peers.get(request) ?? null
  await start({ listen, peerAddress }, { worker: null, isDemo })
} catch (error) {
  fail(error)
}

async function listen({ port, host, fetch }: ListenOptions): Promise<Listener> {
  const { Deno } = globalThis as unknown as { Deno: DenoHttp }
  const inFlight = new Set<Promise<Response>>()
  const server = Deno.serve(
    { port, hostname: host, onListen: () => undefined },
    (request, { remoteAddr }) => {
      Object.defineProperty(request, 'signal', { value: neverAborted })
      if (remoteAddr.hostname) peers.set(request, remoteAddr.hostname)
      const answer = Promise.resolve(fetch(request))
      const forget = () => inFlight.delete(answer)
      inFlight.add(answer)
      answer.then(forget, forget)
      return answer
    },
  )
  const name = host.includes(':') ? `[${host}]` : host
  return {
    origin: `http://${name}:${server.addr.port}`,
    port: server.addr.port,
    // A shutdown would break off bodies that are still arriving, so it waits for them.
    drain: async () => {
      await Promise.allSettled([...inFlight])
      await server.shutdown()
    },
    // The process ends right after: what is left of its connections ends with it.
    close: async () => undefined,
  }
}
