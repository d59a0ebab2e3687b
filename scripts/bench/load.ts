import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import autocannon from 'autocannon'

const connectionsDefault = 16
const loadWithinMs = 120_000

export interface LoadRequest {
  path: string
  /** JSON to POST; a request without it is a GET. */
  body?: string
}

export interface Load {
  url: string
  /** Sent in this order, again and again. */
  requests: LoadRequest[]
  key: string
  seconds: number
  /** The same number for the service and the ceiling. */
  connections?: number
}

const run = promisify(execFile)

export interface LoadResult {
  requests: number
  requestsPerSecond: number
  /** The median latency. */
  p50Ms: number
}

/** Requests over some connections, each with one request at a time. Uses wrk, or autocannon if wrk is not installed. */
export async function applyLoad(load: Load): Promise<LoadResult> {
  return (await hasWrk()) ? loadByWrk(load) : loadByAutocannon(load)
}

async function hasWrk(): Promise<boolean> {
  return run('wrk', ['--version']).then(
    () => true,
    // wrk exits with 1 after printing its version.
    (error) => error.code !== 'ENOENT',
  )
}

async function loadByWrk({
  url,
  requests,
  key,
  seconds,
  connections = connectionsDefault,
}: Load): Promise<LoadResult> {
  const folder = mkdtempSync(join(tmpdir(), 'callbook-bench-wrk-'))
  const script = join(folder, 'requests.lua')
  writeFileSync(script, luaScript(requests, key))
  try {
    const args = ['-t1', '--latency', `-c${connections}`, `-d${seconds}s`, '-s', script, url]
    const { stdout } = await run('wrk', args, { timeout: loadWithinMs })
    const failed = /Non-2xx or 3xx responses: (\d+)|Socket errors: (.*)/.exec(stdout)
    if (failed) throw new Error(`The load failed: ${failed[0]}`)
    return {
      requests: Number(/(\d+) requests in/.exec(stdout)?.[1]),
      requestsPerSecond: Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)?.[1]),
      p50Ms: toMs(/50%\s+([\d.]+)(us|ms|s)/.exec(stdout)),
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** @param found a number and its unit */
function toMs(found: RegExpExecArray | null): number {
  const [, value, unit] = found ?? []
  return Number(value) * (unit === 'us' ? 0.001 : unit === 's' ? 1_000 : 1)
}

function luaScript(requests: LoadRequest[], key: string): string {
  // Strings of JSON without control characters are strings of Lua.
  const parts = requests.map(
    ({ path, body }) => `{ ${JSON.stringify(path)}, ${JSON.stringify(body) ?? 'nil'} }`,
  )
  return `
    local parts = { ${parts.join(',\n')} }
    local requests, next = {}, 0
    init = function()
      wrk.headers['Authorization'] = ${JSON.stringify(`Bearer ${key}`)}
      wrk.headers['Content-Type'] = 'application/json'
      for index, part in ipairs(parts) do
        requests[index] = wrk.format(part[2] and 'POST' or 'GET', part[1], nil, part[2])
      end
    end
    request = function()
      next = next % #requests + 1
      return requests[next]
    end`
}

async function loadByAutocannon({
  url,
  requests,
  key,
  seconds,
  connections = connectionsDefault,
}: Load): Promise<LoadResult> {
  const result = await autocannon({
    url,
    connections,
    duration: seconds,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    requests: requests.map((request) => ({ method: request.body ? 'POST' : 'GET', ...request })),
  })
  if (result.non2xx + result.errors > 0) throw new Error('The load failed')
  return {
    requests: result['2xx'],
    requestsPerSecond: result['2xx'] / result.duration,
    p50Ms: result.latency.p50,
  }
}
