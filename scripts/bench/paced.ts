import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export interface PacedRequest {
  method: string
  path: string
  body?: string
}

export interface PacedLoad {
  url: string
  key: string
  /** Sent in turn, all of them `repeats` times at most. */
  requests: PacedRequest[]
  repeats: number
  requestsPerSecond: number
  secondsMax: number
}

export interface PacedResult {
  latenciesMs: number[]
  /** Requests without an answer, or with another one than success. */
  failed: number
}

export interface PacedRun {
  /** Resolves when every request was sent or the time is over. */
  done: Promise<PacedResult>
  /** Sends nothing more. */
  stop(): Promise<PacedResult>
}

const script = fileURLToPath(new URL('paced-load.ts', import.meta.url))

/** Starts a load at a fixed rate in a process of its own. */
export function startPaced(load: PacedLoad): PacedRun {
  const folder = mkdtempSync(join(tmpdir(), 'callbook-bench-load-'))
  const file = join(folder, 'load.json')
  writeFileSync(file, JSON.stringify(load), { mode: 0o600 })
  const child = spawn(process.execPath, [script, file], { stdio: ['pipe', 'pipe', 'inherit'] })
  const done = new Promise<PacedResult>((resolve, reject) => {
    let text = ''
    child.stdout.on('data', (part) => {
      text += part
    })
    child.once('error', reject)
    child.once('close', (code) => {
      rmSync(folder, { recursive: true })
      if (code === 0) resolve(JSON.parse(text))
      else reject(new Error(`The paced load ended with code ${code}`))
    })
  })
  const stop = () => {
    child.stdin.end()
    return done
  }
  return { done, stop }
}

export interface Latency {
  p50: number
  p99: number
  max: number
  count: number
  failed: number
}

export function latencyOf(results: PacedResult[]): Latency {
  const sorted = results.flatMap(({ latenciesMs }) => latenciesMs).sort((a, b) => a - b)
  const at = (share: number) =>
    sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN
  const failed = results.reduce((sum, result) => sum + result.failed, 0)
  return { p50: at(0.5), p99: at(0.99), max: sorted.at(-1) ?? Number.NaN, count: sorted.length, failed }
}
