import { dataOfThread, sendEvent, serve } from '../../src/threads/serve.ts'

const { greeting } = dataOfThread<{ greeting: string }>()
let asked = 0
const sleeping = new Int32Array(new SharedArrayBuffer(4))

/** A worker for the tests of threads. */
const api = {
  greet(name: string): string {
    return `${greeting} ${name}`
  },
  /** How often this worker has been asked. */
  count(): number {
    return ++asked
  },
  /** Blocks the thread, as a native call does. */
  block(ms: number): string {
    Atomics.wait(sleeping, 0, 0, ms)
    return 'blocked'
  },
  async later(ms: number): Promise<string> {
    await new Promise((resolve) => setTimeout(resolve, ms))
    return 'later'
  },
  fail(message: string): never {
    throw Object.assign(new Error(message), { code: 'ECHO' })
  },
  crash(): void {
    setTimeout(() => {
      throw new Error('crashed')
    }, 0)
  },
  tell(event: string): void {
    sendEvent(event)
  },
}

export type EchoApi = typeof api

serve(api)
