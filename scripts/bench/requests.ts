export interface Asked {
  method: string
  path: string
  key: string
  body?: unknown
}

export function send(url: string, { method, path, key, body }: Asked): Promise<Response> {
  const headers = { authorization: `Bearer ${key}`, ...(body ? { 'content-type': 'application/json' } : {}) }
  return fetch(url + path, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) })
}

/** Its body. @throws for an answer that is not a success */
export async function answered(url: string, asked: Asked): Promise<string> {
  const answer = await send(url, asked)
  if (!answer.ok) throw new Error(`${asked.method} ${asked.path} was answered ${answer.status}`)
  return await answer.text()
}

/** Its status, once the whole answer has arrived. */
export async function statusOf(url: string, asked: Asked): Promise<number> {
  const answer = await send(url, asked)
  await answer.arrayBuffer()
  return answer.status
}
