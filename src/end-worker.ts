import type { MessagePort } from 'node:worker_threads'

/** Ends the worker whose port this is, once what it has sent has gone out. */
export function endWorker(port: Partial<Pick<MessagePort, 'close'>>): void {
  if (port.close) port.close()
  // On Deno a worker's port has no `close`; there, ending the process ends the worker alone.
  else process.exit(0)
}
