import { spawn } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { killOnExit } from './processes.ts'
import { temporaryFolder } from './temporary.ts'

export interface LoadRun<Result> {
  /** Resolves when the load has sent everything or its time has run out. */
  done: Promise<Result>
  /** Stops sending. */
  stop(): Promise<Result>
}

/** Starts a load in a separate process, so that the benchmark does not delay it. */
export function startLoad<Load, Result>(script: string, load: Load): LoadRun<Result> {
  const folder = temporaryFolder()
  const [loadFile, resultFile] = [join(folder, 'load.json'), join(folder, 'result.json')]
  writeFileSync(loadFile, JSON.stringify(load), { mode: 0o600 })
  const path = fileURLToPath(new URL(script, import.meta.url))
  const child = spawn(process.execPath, [path, loadFile, resultFile], {
    stdio: ['pipe', 'ignore', 'inherit'],
  })
  killOnExit(child)
  const closed = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  const done = closed
    .then((code): Result => {
      if (code !== 0) throw new Error(`${script} ended with code ${code}`)
      return JSON.parse(readFileSync(resultFile, 'utf8'))
    })
    .finally(() => rmSync(folder, { recursive: true, force: true }))
  // A case that has failed does not wait for it.
  done.catch(() => undefined)
  const stop = () => {
    child.stdin.end()
    return done
  }
  return { done, stop }
}

/** In the load's process: runs it until it ends or the benchmark closes standard input, then writes the result. */
export async function serveLoad<Load, Result>(
  run: (load: Load, isEnding: () => boolean) => Promise<Result>,
): Promise<never> {
  const [loadFile = '', resultFile = ''] = process.argv.slice(2)
  let isEnding = false
  process.stdin.on('end', () => {
    isEnding = true
  })
  process.stdin.resume()
  const result = await run(JSON.parse(readFileSync(loadFile, 'utf8')), () => isEnding)
  writeFileSync(resultFile, JSON.stringify(result), { mode: 0o600 })
  process.exit(0)
}
