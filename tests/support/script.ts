import { repository } from './process.ts'

export interface Script {
  pid: number
  /** Resolves with the rest of the line when the script prints one that starts with `word`. */
  said(word: string): Promise<string>
  /** The whole of stdout, once the script has ended; rejects when it failed. */
  ended: Promise<string>
  kill(): Promise<void>
}

/** Runs TypeScript in a process of its own. Imports are relative to the repository; `args` are in process.argv. */
export function runScript(code: string, ...args: string[]): Script {
  const child = Bun.spawn(['bun', '-e', code, '--', ...args], {
    cwd: repository,
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const printed: string[] = []
  const listeners = new Set<() => void>()
  const output = (async () => {
    const decoder = new TextDecoder()
    for await (const part of child.stdout) {
      printed.push(decoder.decode(part, { stream: true }))
      for (const listener of listeners) listener()
    }
  })()
  const errors = new Response(child.stderr).text()
  const ended = (async () => {
    await output
    const code = await child.exited
    for (const listener of listeners) listener()
    if (code !== 0) throw new Error(`The script ended with ${code}: ${await errors}`)
    return printed.join('')
  })()
  // A test that kills the script does not wait for its end.
  ended.catch(() => undefined)
  return {
    pid: child.pid,
    ended,
    said(word) {
      const { promise, resolve, reject } = Promise.withResolvers<string>()
      const look = () => {
        const lines = printed.join('').split('\n').slice(0, -1)
        const line = lines.find((text) => text.startsWith(word))
        if (line === undefined) return
        listeners.delete(look)
        resolve(line.slice(word.length).trim())
      }
      listeners.add(look)
      look()
      ended.then(() => reject(new Error(`The script never said ${word}`)), reject)
      return promise
    },
    async kill() {
      child.kill('SIGKILL')
      await child.exited
    },
  }
}
