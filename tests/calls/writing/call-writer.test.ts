import { describe, expect, test } from 'bun:test'
import type { CallChange, Turn } from '../../../src/calls/schemas.ts'
import { Ingest } from '../../../src/calls/writing/ingest.ts'
import type { StoreOf } from '../../../src/db/store.ts'
import { coreOver } from '../../support/core.ts'
import { openFreshDatabase } from '../../support/database.ts'
import { failureOf } from '../../support/failure.ts'
import { projectsOf } from '../../support/projects.ts'

const fresh = await openFreshDatabase()
const core = await coreOver(fresh.database, () => undefined)

const hello: Turn = { role: 'user', content: 'Hello' }

describe('a call that another process changes between reading and writing', () => {
  test('has both changes', async () => {
    const { projectId, first, second } = await twoProcesses({ summary: 'booked' })
    await first.put(projectId, 'a', { summary: 'old', transcript: [hello] })
    await second.put(projectId, 'a', { evaluation: 'success' })
    expect(await callOf(first, projectId)).toMatchObject({ summary: 'booked', evaluation: 'success' })
  })

  test('has the turn that was first at its place', async () => {
    const { projectId, first, second } = await twoProcesses(turnAt1('One'))
    await first.put(projectId, 'a', { transcript: [hello] })
    expect(await failureOf(second.put(projectId, 'a', turnAt1('Another')))).toMatchObject({
      code: 'transcript_gap',
    })
    const { transcript } = await callOf(first, projectId)
    expect(transcript.map(({ content }: Turn) => content)).toEqual(['Hello', 'One'])
  })
})

function turnAt1(content: string): CallChange {
  return { appendTranscript: { at: 1, turns: [{ role: 'assistant', content }] } }
}

/** Before the first write of the second process, the first one makes a change of the same call. */
async function twoProcesses(overtaking: CallChange) {
  const { database } = fresh
  const { projectId } = await projectsOf(database).create(crypto.randomUUID())
  const first = ingestOn(database.store)
  let isOvertaken = false
  const overtake = async () => {
    if (isOvertaken) return
    isOvertaken = true
    await first.put(projectId, 'a', overtaking)
  }
  return { projectId, first, second: ingestOn(beforeWrites(database.store, overtake)) }
}

function ingestOn(store: StoreOf): Ingest {
  return new Ingest(
    { ...core, store },
    { wordBacklog: { schedule: () => undefined }, analysisDelayMs: null, prices: null },
  )
}

/** The same store, where something happens before each batch. */
function beforeWrites(store: StoreOf, happen: () => Promise<void>): StoreOf {
  return (projectId) => {
    const own = store(projectId)
    const write = new Proxy(own.write, {
      get(target, name) {
        const value = Reflect.get(target, name)
        if (name !== 'batch' && name !== 'batchIf') return value
        return async (...args: unknown[]) => {
          await happen()
          return await Reflect.apply(value, target, args)
        }
      },
    })
    return { ...own, write }
  }
}

async function callOf(ingest: Ingest, projectId: number) {
  const { document } = await ingest.put(projectId, 'a', {})
  return JSON.parse(Buffer.from(document).toString())
}
