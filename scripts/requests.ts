export interface ServiceRequest {
  method?: string
  path: string
  key: string
  body?: unknown
}

/** Returns the answer once all of it has arrived. */
export async function send(
  url: string,
  { method, path, key, body }: ServiceRequest,
): Promise<{ ok: boolean; status: number; text: string }> {
  const answer = await fetch(url + path, {
    method: method ?? (body ? 'POST' : 'GET'),
    headers: { authorization: `Bearer ${key}`, ...(body ? { 'content-type': 'application/json' } : {}) },
    body: body ? JSON.stringify(body) : null,
  })
  return { ok: answer.ok, status: answer.status, text: await answer.text() }
}

/** Returns the answer's JSON. @throws unless the request succeeds */
export async function ask<Answer>(url: string, request: ServiceRequest): Promise<Answer> {
  const { ok, status, text } = await send(url, request)
  if (!ok) throw new Error(`${request.path} was answered ${status}: ${text}`)
  return JSON.parse(text)
}
