import { setTimeout as sleep } from 'node:timers/promises'
import { copyDataset } from '../dataset.ts'
import { findDataset } from '../datasets.ts'
import { callId } from '../made-calls.ts'
import { processOf } from '../memory.ts'
import { bodyOf } from '../requests.ts'
import { median } from '../rounds.ts'
import type { Options } from '../runner.ts'
import { formatCount, type Row } from '../table.ts'
import type { Texts } from '../texts.ts'

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
export async function benchErasing(texts: Texts, { start, calls }: Options): Promise<Row[]> {
  const dataset = copyDataset(await findDataset(texts, calls))
  const { url, pid } = await start(dataset)
  await untilAtRest(pid)
  const seconds: number[] = []
  const doneMs: number[] = []
  for (let n = 0; n < deletions; n++) {
    const id = callId(Math.floor(((n + 0.5) * calls) / deletions))
    const before = processOf(pid).processorSeconds
    const startedAt = performance.now()
    await bodyOf(url, { method: 'DELETE', path: `/v1/calls/${id}`, key: dataset.key })
    for (;;) {
      const receipt = await bodyOf(url, { method: 'GET', path: `/v1/erasures/${id}`, key: dataset.key })
      if (JSON.parse(receipt).status === 'done') break
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
    {
      what: `DELETE of one of ${formatCount(calls)} calls until every byte is gone: processor`,
      measured: `${median(seconds).toFixed(2)} s (${each})`,
      target: `≤ ${most} s`,
      isMet: median(seconds) <= most,
    },
    {
      what: '  done after',
      measured: `at most ${formatCount(Math.max(...doneMs))} ms`,
      target: `≤ ${formatCount(doneMsMax)} ms`,
      isMet: Math.max(...doneMs) <= doneMsMax,
    },
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
