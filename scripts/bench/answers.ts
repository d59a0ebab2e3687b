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
      textOf(service.url + path, key),
      textOf(ceiling.url + path, key),
    ])
    if (withoutNext(ours) !== withoutNext(theirs)) throw new Error(`Service and ceiling differ at ${path}`)
  }
}

async function textOf(url: string, key: string): Promise<string> {
  const response = await fetch(url, { headers: { authorization: `Bearer ${key}` } })
  if (!response.ok) throw new Error(`${url} answered ${response.status}`)
  return await response.text()
}

/** The ceiling makes no cursors. */
function withoutNext(page: string): string {
  return page.replace(/,"next":(null|"[^"]*")}}$/, '}}')
}
