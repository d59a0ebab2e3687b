import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import autocannon from 'autocannon'

/** The same number for the service and the ceiling. */
export const connections = 16
const loadWithinMs = 120_000

export interface Load {
  url: string
  /** Each request takes the next path. */
  paths: string[]
  key: string
  seconds: number
}

const run = promisify(execFile)

export interface LoadResult {
  requests: number
  requestsPerSecond: number
}

/** Requests over 16 connections, each with one request at a time. Uses wrk, or autocannon if wrk is not installed. */
export async function applyLoad(load: Load): Promise<LoadResult> {
  return (await hasWrk()) ? loadByWrk(load) : loadByAutocannon(load)
}

export async function hasWrk(): Promise<boolean> {
  return run('wrk', ['--version']).then(
    () => true,
    // wrk exits with 1 after printing its version.
    (error) => error.code !== 'ENOENT',
  )
}

async function loadByWrk({ url, paths, key, seconds }: Load): Promise<LoadResult> {
  const folder = mkdtempSync(join(tmpdir(), 'callbook-bench-wrk-'))
  const script = join(folder, 'paths.lua')
  writeFileSync(script, luaScript(paths, key))
  try {
    const args = ['-t1', `-c${connections}`, `-d${seconds}s`, '-s', script, url]
    const { stdout } = await run('wrk', args, { timeout: loadWithinMs })
    const failed = /Non-2xx or 3xx responses: (\d+)|Socket errors: (.*)/.exec(stdout)
    if (failed) throw new Error(`The load failed: ${failed[0]}`)
    return {
      requests: Number(/(\d+) requests in/.exec(stdout)?.[1]),
      requestsPerSecond: Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)?.[1]),
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function luaScript(paths: string[], key: string): string {
  return `
    local paths = { ${paths.map((path) => JSON.stringify(path)).join(',\n')} }
    local requests, next = {}, 0
    init = function()
      wrk.headers['Authorization'] = ${JSON.stringify(`Bearer ${key}`)}
      for index, path in ipairs(paths) do requests[index] = wrk.format('GET', path) end
    end
    request = function()
      next = next % #requests + 1
      return requests[next]
    end`
}

async function loadByAutocannon({ url, paths, key, seconds }: Load): Promise<LoadResult> {
  const result = await autocannon({
    url,
    connections,
    duration: seconds,
    headers: { authorization: `Bearer ${key}` },
    requests: paths.map((path) => ({ method: 'GET', path })),
  })
  if (result.non2xx + result.errors > 0) throw new Error('The load failed')
  return { requests: result['2xx'], requestsPerSecond: result['2xx'] / result.duration }
}
