import { setTimeout as sleep } from 'node:timers/promises'
import { copyDataset } from '../../dataset.ts'
import { processOf } from '../../process-use.ts'
import { ask } from '../../requests.ts'
import { atMost, formatCount, type Row, row } from '../figures.ts'
import { median } from '../load.ts'
import { callId, callsDataset } from '../made-calls.ts'
import type { Options } from '../runner.ts'

const deletions = 5
const secondsMax = (calls: number) => (calls > 100_000 ? 0.15 : calls > 10_000 ? 0.12 : 0.1)
/** The default of ERASE_WITHIN_MS. */
const doneMsMax = 5_000
const waitMsMax = 300_000
const pollMs = 50
/** A server that uses less in this time is at rest. */
const restMs = 2_000
const restSeconds = 0.05

/** One call after another of many, each until every byte is gone. */
export async function benchErasing({ start, calls, texts }: Options): Promise<Row[]> {
  const { folder, key } = copyDataset(await callsDataset({ texts }, calls))
  const { url, pid } = await start(folder)
  await untilAtRest(pid)
  const seconds: number[] = []
  const doneMs: number[] = []
  for (let n = 0; n < deletions; n++) {
    const id = callId(Math.floor(((n + 0.5) * calls) / deletions))
    const before = processOf(pid).processorSeconds
    const startedAt = performance.now()
    await ask(url, { method: 'DELETE', path: `/v1/calls/${id}`, key })
    const isDone = async () =>
      (await ask<{ status: string }>(url, { path: `/v1/erasures/${id}`, key })).status === 'done'
    while (!(await isDone())) {
      if (performance.now() > startedAt + waitMsMax) throw new Error(`${id} was not erased in time`)
      await sleep(pollMs)
    }
    doneMs.push(performance.now() - startedAt)
    await untilAtRest(pid)
    seconds.push(processOf(pid).processorSeconds - before)
  }
  const most = secondsMax(calls)
  const each = seconds.map((value) => value.toFixed(2)).join(', ')
  return [
    row(
      `DELETE of one of ${formatCount(calls)} calls until every byte is gone: processor`,
      `${median(seconds).toFixed(2)} s (${each})`,
      `≤ ${most} s`,
      median(seconds) <= most,
    ),
    atMost('  done after, at most', Math.max(...doneMs), doneMsMax, 'ms'),
  ]
}

async function untilAtRest(pid: number): Promise<void> {
  const endsAt = performance.now() + waitMsMax
  for (let before = Number.NEGATIVE_INFINITY; performance.now() < endsAt; ) {
    const used = processOf(pid).processorSeconds
    if (used - before <= restSeconds) return
    before = used
    await sleep(restMs)
  }
}
