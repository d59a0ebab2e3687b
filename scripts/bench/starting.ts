import { setTimeout as sleep } from 'node:timers/promises'
import type { Dataset } from './dataset.ts'
import { chunksDataset } from './datasets.ts'
import { type Memory, memoryOf } from './memory.ts'
import { startService } from './processes.ts'
import { median } from './rounds.ts'
import type { Options } from './runner.ts'
import { formatMemory, type Row } from './table.ts'
import { temporaryFolder } from './temporary.ts'
import type { Texts } from './texts.ts'

const runs = 3
/** By then the sweep that follows a start is done and its thread has ended. */
const idleMs = 8_000
const freshMbMax = 125
const filledMbMax = 280
const readyMsMax = 600

/** Memory of an idle service, in a new folder and with 100,000 calls and 50,000 chunks, and its time until it is ready. */
export async function benchStart(texts: Texts, { main }: Options): Promise<Row[]> {
  const fresh = await measure(main, () => ({ folder: temporaryFolder() }))
  const dataset = await chunksDataset(texts)
  const filled = await measure(main, () => dataset)
  return [
    memoryRow('memory of a fresh start', fresh.memory, freshMbMax),
    memoryRow('memory with 100,000 calls and 50,000 chunks', filled.memory, filledMbMax),
    {
      what: '  from the start of the process until it is ready',
      measured: `${Math.round(filled.readyInMs)} ms; in a new folder ${Math.round(fresh.readyInMs)} ms`,
      target: `≤ ${readyMsMax} ms`,
      isMet: filled.readyInMs <= readyMsMax,
    },
  ]
}

/** Medians of several starts. */
async function measure(main: string, folder: () => Pick<Dataset, 'folder'>) {
  const times: number[] = []
  const memories: Memory[] = []
  for (let run = 0; run < runs; run++) {
    const service = await startService(main, folder())
    times.push(service.readyInMs)
    await sleep(idleMs)
    memories.push(memoryOf(service.pid))
    await service.stop()
  }
  const medianOf = (name: keyof Memory) => median(memories.map((memory) => memory[name]))
  const memory = {
    residentMb: medianOf('residentMb'),
    ownMb: medianOf('ownMb'),
    residentMbMax: medianOf('residentMbMax'),
  }
  return { readyInMs: median(times), memory }
}

function memoryRow(what: string, memory: Memory, residentMbMax: number): Row {
  return {
    what,
    measured: formatMemory(memory),
    target: `≤ ${residentMbMax} MB`,
    isMet: memory.residentMb <= residentMbMax,
  }
}
