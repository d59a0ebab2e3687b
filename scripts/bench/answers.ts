import type { Running } from './processes.ts'

const pathsCheckedMax = 200

/** @throws when the ceiling's answer differs from the service's */
export async function checkSameAnswers(
  { service, ceiling }: { service: Running; ceiling: Running },
  paths: string[],
  key: string,
): Promise<void> {
  for (const path of paths.slice(0, pathsCheckedMax)) {
    const [ours, theirs] = await Promise.all([
      bytesOf(service.url + path, key),
      bytesOf(ceiling.url + path, key),
    ])
    if (!ours.equals(theirs)) throw new Error(`Service and ceiling differ at ${path}`)
  }
}

async function bytesOf(url: string, key: string): Promise<Buffer> {
  const response = await fetch(url, { headers: { authorization: `Bearer ${key}` } })
  if (!response.ok) throw new Error(`${url} answered ${response.status}`)
  return Buffer.from(await response.arrayBuffer())
}
