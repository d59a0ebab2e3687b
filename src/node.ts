import { once } from 'node:events'
import { Server } from 'node:http'
import { createAdaptorServer, type HttpBindings } from '@hono/node-server'
import { readArguments } from './start/arguments.ts'
import { fail, type Listener, type ListenOptions, start } from './start/start.ts'

// Starts the service on Node, from what `bun run build:node` makes of it.

const closeIdleEveryMs = 50
/** Used for requests without a `Host`. */
const unknownHost = 'unknown.invalid'
const peers = new WeakMap<Request, string>()

try {
  const { isDemo } = readArguments()
  const peerAddress = (request: Request) => peers.get(request) ?? null
  await start({ listen, peerAddress }, { worker: null, isDemo })
} catch (error) {
  fail(error)
}

async function listen({ port, host, keepAliveSeconds, fetch }: ListenOptions): Promise<Listener> {
  const server = createAdaptorServer({
    overrideGlobalObjects: false,
    hostname: unknownHost,
    fetch: (request, bindings) => {
      const peer = (bindings as HttpBindings).incoming.socket.remoteAddress
      if (peer) peers.set(request, peer)
      return fetch(request)
    },
  })
  if (!(server instanceof Server)) throw new Error('Only HTTP/1.1 is served here')
  server.keepAliveTimeout = keepAliveSeconds * 1_000
  server.listen(port, host)
  await once(server, 'listening')
  const address = server.address()
  const bound = typeof address === 'object' && address ? address.port : port
  const name = host.includes(':') ? `[${host}]` : host
  return {
    origin: `http://${name}:${bound}`,
    port: bound,
    drain: async () => {
      const whenClosed = once(server, 'close')
      server.close()
      // Closes connections that become idle later, which would otherwise wait for another request.
      const closing = setInterval(() => server.closeIdleConnections(), closeIdleEveryMs)
      await whenClosed
      clearInterval(closing)
    },
    close: async () => server.closeAllConnections(),
  }
}
