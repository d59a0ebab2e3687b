import { spawn } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { SearchHit, SearchRequest } from '../../../src/knowledge/schemas.ts'
import { endWithThis } from '../processes.ts'
import { temporaryFolder } from './temporary.ts'

export interface SearchLoad {
  url: string
  key: string
  /** Sent first, as many at a time, for a few seconds at most, and not measured. */
  warmUp: SearchRequest[]
  /** Each round begins when the one before is answered. */
  rounds: SearchRequest[][]
  /** All rounds again and again until it is stopped. */
  repeats: boolean
  /** Searches under way at a time. */
  concurrency: number
  secondsMax: number
  /** Gives the answers of the last round back. */
  keepsAnswers: boolean
}

export interface SearchResult {
  latenciesMs: number[]
  /** Searches without an answer, or with another one than success. */
  failed: number
  /** How many answers were of each mode. */
  modes: Record<string, number>
  /** Milliseconds within the service by `Server-Timing`; empty when it reports none. */
  timings: Record<string, number[]>
  /** By the search's place in its round; only when they were to be kept. */
  answers: SearchHit[][]
}

export interface SearchRun {
  /** Resolves when everything was asked or the time is over. */
  done: Promise<SearchResult>
  /** Asks nothing more. */
  stop(): Promise<SearchResult>
}

const script = fileURLToPath(new URL('search-load.ts', import.meta.url))
const defaults = { warmUp: [], repeats: false, concurrency: 1, secondsMax: 120, keepsAnswers: false }

/** Starts searches in a closed loop in a process of its own; one at a time when nothing else is said. */
export function startSearching(
  load: Pick<SearchLoad, 'url' | 'key' | 'rounds'> & Partial<SearchLoad>,
): SearchRun {
  const folder = temporaryFolder()
  const [loadFile, resultFile] = [join(folder, 'load.json'), join(folder, 'result.json')]
  writeFileSync(loadFile, JSON.stringify({ ...defaults, ...load } satisfies SearchLoad), { mode: 0o600 })
  const child = spawn(process.execPath, [script, loadFile, resultFile], {
    stdio: ['pipe', 'ignore', 'inherit'],
  })
  endWithThis(child)
  const closed = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  const done = closed
    .then((code): SearchResult => {
      if (code !== 0) throw new Error(`The searching ended with code ${code}`)
      return JSON.parse(readFileSync(resultFile, 'utf8'))
    })
    .finally(() => rmSync(folder, { recursive: true }))
  const stop = () => {
    child.stdin.end()
    return done
  }
  return { done, stop }
}
