import { expect } from 'bun:test'
import type { TestProject } from './service.ts'

/** Adds items one at a time and returns their ids once each is found by vector. */
export async function addItems(
  project: TestProject,
  items: { name: string; text: string; tags?: string[] }[],
): Promise<string[]> {
  const ids: string[] = []
  for (const item of items) {
    const answer = await project.send('POST', '/v1/knowledge', item)
    expect([answer.status, answer.headers.get('callbook-index')]).toEqual([201, 'ready'])
    ids.push((await answer.json()).id)
  }
  return ids
}
