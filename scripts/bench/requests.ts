export interface BenchRequest {
  method: string
  path: string
  key: string
  body?: unknown
}

export function send(url: string, { method, path, key, body }: BenchRequest): Promise<Response> {
  const headers = { authorization: `Bearer ${key}`, ...(body ? { 'content-type': 'application/json' } : {}) }
  return fetch(url + path, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) })
}

/** Returns the answer's body. @throws unless the request succeeds */
export async function bodyOf(url: string, request: BenchRequest): Promise<string> {
  const answer = await send(url, request)
  if (!answer.ok) throw new Error(`${request.method} ${request.path} was answered ${answer.status}`)
  return await answer.text()
}

/** Returns the answer's status once all of it has arrived. */
export async function statusOf(url: string, request: BenchRequest): Promise<number> {
  const answer = await send(url, request)
  await answer.arrayBuffer()
  return answer.status
}
