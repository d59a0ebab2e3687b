import type { Primary } from './primary.ts'
import { startService, type TestProject, type TestService } from './service.ts'

export const syncIntervalMs = 200

/** The service as an edge node of this primary, in a folder of its own. */
export function startNode(
  primary: Primary,
  { env = {}, dataDir }: { env?: Record<string, string>; dataDir?: string } = {},
): Promise<TestService> {
  const replica = { DATABASE_SYNC_URL: primary.url, DATABASE_SYNC_INTERVAL_MS: String(syncIntervalMs) }
  return startService({ env: { ...replica, ...env }, ...(dataDir ? { dataDir } : {}) })
}

export interface Reached {
  fetch(path: string, init?: RequestInit): Promise<Response>
  send(method: string, path: string, body: unknown): Promise<Response>
}

/** A project as another node serves it. */
export function at(
  { url }: { url: string },
  { key, ingestKey }: Pick<TestProject, 'key' | 'ingestKey'>,
): Reached {
  const call = (path: string, init: RequestInit = {}) => {
    const headers = new Headers(init.headers)
    headers.set('authorization', `Bearer ${path.startsWith('/ingest') ? ingestKey : key}`)
    return fetch(url + path, { ...init, headers })
  }
  return {
    fetch: call,
    send: (method, path, body) =>
      call(path, { method, body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  }
}

/** Names of the items that a vector search finds, best first; null when it was not answered by vector. */
export async function foundByVector(project: Reached, query: string): Promise<string[] | null> {
  const answer = await project.send('POST', '/v1/knowledge/search', {
    query,
    mode: 'vector',
    timeoutMs: 5_000,
  })
  if (answer.status !== 200) return null
  const { mode, data }: { mode: string; data: { name: string }[] } = await answer.json()
  return mode === 'vector' ? data.map(({ name }) => name) : null
}
