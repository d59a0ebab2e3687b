import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import type { Methods, ThreadData, ThreadReply, ThreadRequest } from './thread.ts'

interface ServeOptions {
  close?: () => unknown
  /** Calls `close` at once, even while requests are running, which then may never be answered. */
  closesAtOnce?: boolean
}

/** What the thread that starts this worker gave it. */
export function dataOfThread<Data>(): Data {
  return (workerData as ThreadData<Data>).data
}

/**
 * Answers the requests of a `Thread` with the methods of `api`, in the worker. Requests are begun in the order in which
 * they arrive; asynchronous methods run side by side.
 */
export function serve<Api extends Methods<Api>>(
  api: Api,
  { close, closesAtOnce = false }: ServeOptions = {},
): void {
  const port = portOfThread()
  const { isDropping }: ThreadData<unknown> = workerData
  const running = new Set<Promise<void>>()
  const reply = (message: ThreadReply) => port.postMessage(message)

  const answer = async ({ id, method, args }: ThreadRequest & { method: string }) => {
    try {
      reply({ kind: 'value', id, value: await call(api, method, args) })
    } catch (error) {
      reply({ kind: 'error', id, message: messageOf(error), code: codeOf(error) })
    }
  }
  const end = async () => {
    if (!closesAtOnce) await Promise.all(running)
    await close?.()
    // On Deno a worker's port has no `close`; there, `process.exit` ends the worker alone.
    if (port.close) port.close()
    else process.exit(0)
  }
  port.on('message', ({ method, ...request }: ThreadRequest) => {
    if (method === null) {
      void end()
    } else if (Atomics.load(isDropping, 0) === 0) {
      const run = answer({ ...request, method }).finally(() => running.delete(run))
      running.add(run)
    }
  })
}

/** Calls the thread's `onEvent`, from the worker. */
export function sendEvent<Event>(event: Event): void {
  portOfThread().postMessage({ kind: 'event', event } satisfies ThreadReply)
}

function portOfThread(): MessagePort {
  if (!parentPort) throw new Error('This file runs as a worker thread only')
  return parentPort
}

/** A `Thread` of the same interface pairs each method with its own arguments. */
function call<Api extends Methods<Api>>(api: Api, method: string, args: unknown[]): unknown {
  const run = api[method as keyof Api] as unknown as (...args: unknown[]) => unknown
  return run.apply(api, args)
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined
}
