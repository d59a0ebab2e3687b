/** A knowledge item that a tool answered with. */
export interface RetrievedItem {
  id: string
  /** Null where the answer does not say it. */
  name: string | null
}

// The answers of this service: POST /v1/knowledge/search and its tools as JSON, or passages by MCP.
const inJson =
  /"(?:itemId|document_id)"\s*:\s*"([A-Za-z0-9._-]{1,128})"(?:\s*,\s*"name"\s*:\s*("(?:[^"\\]|\\.)*"))?/g
const inUuid = /"uuid"\s*:\s*"([A-Za-z0-9._-]{1,128}):\d+"/g
const inPassage = /^(.{1,300}) \(item ([A-Za-z0-9._-]{1,128})\)$/gm

/** The knowledge items in a tool's answer, each once, in order. Other answers have none. */
export function retrievedIn(answer: string): RetrievedItem[] {
  const items = new Map<string, RetrievedItem>()
  const add = (id: string | undefined, name: string | null) => {
    if (id !== undefined && !items.get(id)?.name) items.set(id, { id, name })
  }
  // An answer may be JSON inside a JSON string.
  const plain = /\\"(?:itemId|document_id|uuid)\\"/.test(answer) ? answer.replaceAll('\\"', '"') : answer
  for (const [, id, name] of plain.matchAll(inJson)) add(id, nameOf(name))
  for (const [, id] of plain.matchAll(inUuid)) add(id, null)
  for (const [, heading, id] of plain.matchAll(inPassage)) add(id, heading?.split(' › ')[0] ?? null)
  return [...items.values()]
}

function nameOf(quoted: string | undefined): string | null {
  if (quoted === undefined) return null
  try {
    return JSON.parse(quoted)
  } catch {
    // The text was cut, or only looked like JSON.
    return null
  }
}
