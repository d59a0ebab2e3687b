import { chunksDataset } from './datasets.ts'
import { type Memory, memoryOf } from './memory.ts'
import { startService } from './processes.ts'
import { median } from './rounds.ts'
import type { Options } from './runner.ts'
import { formatMemory, type Row } from './table.ts'
import type { Texts } from './texts.ts'

const runs = 3

/** Time from the start of the process until it is ready, with 100,000 calls and 50,000 chunks. */
export async function benchStart(texts: Texts, { main }: Options): Promise<Row[]> {
  const dataset = await chunksDataset(texts)
  const times: number[] = []
  let memory: Memory | undefined
  for (let run = 0; run < runs; run++) {
    const service = await startService(main, dataset)
    times.push(service.readyInMs)
    memory = memoryOf(service.pid)
    await service.stop()
  }
  return [
    {
      what: 'start to ready, 100,000 calls and 50,000 chunks',
      measured: `${Math.round(median(times))} ms; ${memory ? formatMemory(memory) : ''}`,
      target: 'reported',
      isMet: null,
    },
  ]
}
