import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'libsql'
import { makeDataset } from '../dataset.ts'
import { startEndpoint } from '../endpoint.ts'
import { processOf } from '../process-use.ts'
import { formatCount, type Row, row } from './figures.ts'
import type { Options } from './runner.ts'

const eventsCount = 5_000
const perSecondMin = 1_200
const arrivedWithinMs = 20_000
const pollMs = 20

/** How fast a queue of events is sent to one endpoint. */
export async function benchWebhooks({ start }: Options): Promise<Row[]> {
  let arrived = 0
  const endpoint = await startEndpoint((_body, _request, response) => {
    arrived++
    response.writeHead(204).end()
  })
  const { folder, databaseFile } = await makeDataset({
    async fill({ webhooks, ingest }, projectId) {
      await webhooks.create(projectId, { url: 'https://one.invalid/' })
      const calls = Array.from({ length: eventsCount }, (_, at) => ({
        id: `call-${at}`,
        change: { id: `call-${at}`, status: 'completed' as const, summary: `Call ${at}` },
      }))
      await ingest.putAll(projectId, calls)
    },
  })
  // Written directly, because the API refuses loopback addresses.
  const database = new Database(databaseFile)
  database.exec(`update webhooks set url = '${endpoint.url}'`)
  // The first ones have been tried meanwhile, in vain.
  database.exec('update webhook_queue set due_at = 0 where due_at > 0')
  database.close()
  try {
    const { pid } = await start(folder, { WEBHOOK_ALLOW_PRIVATE: '127.0.0.1' })
    const [startedAt, before, sent] = [performance.now(), processOf(pid).processorSeconds, arrived]
    while (arrived < eventsCount && performance.now() < startedAt + arrivedWithinMs) await sleep(pollMs)
    const rate = (arrived - sent) / ((performance.now() - startedAt) / 1_000)
    const us = ((processOf(pid).processorSeconds - before) * 1e6) / (arrived - sent)
    const measured = `${formatCount(rate)}/s, ${formatCount(us)} us of processor each`
    const what = `${formatCount(eventsCount)} queued events to one endpoint`
    return [row(what, measured, `≥ ${formatCount(perSecondMin)}/s`, rate >= perSecondMin)]
  } finally {
    endpoint.close()
  }
}
