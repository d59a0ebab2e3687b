import { join } from 'node:path'
import type { Call } from '../../src/calls/schemas.ts'
import { redactionKinds } from '../../src/redaction/kinds.ts'
import { redact } from '../../src/redaction/redact.ts'
import { emptyDataset, removeDataset } from './dataset.ts'
import { latencyOf, startPaced } from './paced.ts'
import { runCommand, startService } from './processes.ts'
import { checkoutOf } from './project.ts'
import { type Accuracy, measureAccuracy } from './redaction/accuracy.ts'
import { formSets } from './redaction/forms.ts'
import { median } from './rounds.ts'
import type { Options } from './runner.ts'
import { formatLatency, type Row } from './table.ts'
import type { Texts } from './texts.ts'

const seed = 20_261_122
const shareMin = 0.98
const bodiesCount = 1_000
const perSecond = 100
const seconds = 4
const roundsMax = 3
const moreMsMax = 1

/** How much of what is planted into dialogues is redacted, how much else is, and what it costs a write. */
export async function benchRedaction(texts: Texts, options: Options): Promise<Row[]> {
  const dialogues = texts.dialogues.flatMap(({ transcript }) => (transcript?.length ? [transcript] : []))
  const unreal = texts.kind === 'real' ? '' : '; the dialogues are synthetic, since no real ones are there'
  const rows = formSets.flatMap(({ name, forms, atFirst }): Row[] => {
    const { kinds } = measureAccuracy(dialogues, forms, seed)
    const all = kinds.get('all')
    const first = atFirst ? `; at first ${atFirst.recall}, ${atFirst.precision}` : ''
    const shares = [...kinds]
      .filter(([kind]) => kind !== 'all')
      .map(([kind, of]) => `${kind} ${formatted(of)}`)
    return [
      {
        what: `Redaction, ${name} set of forms: recall, precision`,
        measured: `${all ? formatted(all) : ''} of ${all?.wanted}${first} (${shares.join('; ')})${unreal}`,
        target: `≥ ${shareMin} each`,
        isMet: all !== undefined && recallOf(all) >= shareMin && precisionOf(all) >= shareMin,
      },
    ]
  })
  const started = performance.now()
  for (const turns of dialogues) {
    for (const { content } of turns) redact(content, { kinds: redactionKinds, country: 'US' })
  }
  const ms = (performance.now() - started) / dialogues.length
  const perCall: Row = {
    what: 'Redaction of a real call, in the process of the service',
    measured: `${ms.toFixed(3)} ms on average`,
    target: `≤ ${moreMsMax} ms`,
    isMet: ms <= moreMsMax,
  }
  return [...rows, perCall, ...(await benchWrites(texts, options))]
}

function recallOf({ found, wanted }: Accuracy): number {
  return found / Math.max(1, wanted)
}

function precisionOf({ right, marks }: Accuracy): number {
  return right / Math.max(1, marks)
}

function formatted(accuracy: Accuracy): string {
  return `${recallOf(accuracy).toFixed(3)}, ${precisionOf(accuracy).toFixed(3)}`
}

/** The same calls with redaction on and off, in turns. */
async function benchWrites(texts: Texts, { main, rounds }: Options): Promise<Row[]> {
  const dataset = await emptyDataset()
  const service = await startService(main, dataset)
  const bodies = texts.dialogues
    .slice(0, bodiesCount)
    .map(({ id: _, ...call }: Partial<Call>) => JSON.stringify(call))
  try {
    const measured = { on: [] as number[], off: [] as number[] }
    const said: string[] = []
    for (let round = 0; round < Math.min(rounds, roundsMax); round++) {
      for (const side of ['on', 'off'] as const) {
        const kinds = side === 'on' ? redactionKinds.join(',') : 'off'
        const set = ['project', 'set', 'bench', '--redact', kinds, '--country', 'US']
        await runCommand([join(checkoutOf(main), 'scripts/callbook.ts'), ...set], {
          DATA_DIR: dataset.folder,
        })
        const requests = bodies.map((body, n) => ({
          ...{ method: 'PUT', path: `/ingest/calls/${side}-${round}-${n}`, body },
        }))
        const load = { url: service.url, key: dataset.ingestKey, requests, repeats: 1 }
        const writing = startPaced({ ...load, requestsPerSecond: perSecond, secondsMax: seconds })
        const latency = latencyOf([await writing.done])
        measured[side].push(latency.p50)
        said.push(`${side} ${formatLatency(latency)}`)
      }
    }
    const more = median(measured.on) - median(measured.off)
    return [
      {
        what: `PUT of real calls, ${perSecond} a second: p50 with redaction on`,
        measured: `${more >= 0 ? '+' : ''}${more.toFixed(2)} ms (${said.join('; ')})`,
        target: `≤ +${moreMsMax} ms`,
        isMet: more <= moreMsMax,
      },
    ]
  } finally {
    await service.stop()
    removeDataset(dataset)
  }
}
