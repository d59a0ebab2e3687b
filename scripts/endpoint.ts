import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** A server on loopback, such as for webhooks. It hands over each request once its body has arrived. */
export async function startEndpoint(
  receive: (body: string, request: IncomingMessage, response: ServerResponse) => void,
): Promise<{ url: string; close(): void }> {
  const server = createServer(async (request, response) => receive(await text(request), request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = () => {
    server.close()
    server.closeAllConnections()
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, close }
}
