import { join } from 'node:path'
import type { Call } from '../../src/calls/schemas.ts'
import { redactionKinds } from '../../src/redaction/kinds.ts'
import { redact } from '../../src/redaction/redact.ts'
import { finished } from '../../src/threads/time-slices.ts'
import { emptyDataset } from './dataset.ts'
import { runCommand } from './processes.ts'
import { checkoutOf, createProject } from './project.ts'
import { type Accuracy, measureAccuracy } from './redaction/accuracy.ts'
import { formSets } from './redaction/forms.ts'
import { bodyOf } from './requests.ts'
import { median } from './rounds.ts'
import type { Options } from './runner.ts'
import type { Row } from './table.ts'
import type { Texts } from './texts.ts'

const seed = 20_261_122
const shareMin = 0.98
const putsCount = 800
const moreMsMax = 1

/** How much planted data is redacted, how much else is, and what redaction costs a write. */
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
    for (const { content } of turns) finished(redact(content, { kinds: redactionKinds, country: 'US' }))
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

/** Writes the same calls to two projects alternately, so that other load affects both. */
async function benchWrites(texts: Texts, { main, start }: Options): Promise<Row[]> {
  const on = await emptyDataset()
  const off = await createProject(main, { name: 'plain', folder: on.folder })
  const set = ['project', 'set', 'bench', '--redact', redactionKinds.join(','), '--country', 'US']
  await runCommand([join(checkoutOf(main), 'scripts/callbook.ts'), ...set], { DATA_DIR: on.folder })
  const service = await start(on)
  const calls = texts.dialogues.slice(0, putsCount).map(({ id: _, ...call }: Partial<Call>) => call)
  const times = { on: [] as number[], off: [] as number[] }
  for (const [n, body] of calls.entries()) {
    const sides = [
      ['on', on.ingestKey],
      ['off', off.ingestKey],
    ] as const
    for (const [side, key] of n % 2 === 0 ? sides : sides.toReversed()) {
      const started = performance.now()
      await bodyOf(service.url, { method: 'PUT', path: `/ingest/calls/call-${n}`, key, body })
      times[side].push(performance.now() - started)
    }
  }
  const [withIt, without] = [median(times.on), median(times.off)]
  const more = withIt - without
  return [
    {
      what: `PUT of ${calls.length} real calls, one at a time: p50 with redaction`,
      measured: `${more >= 0 ? '+' : ''}${more.toFixed(2)} ms (on ${withIt.toFixed(2)}, off ${without.toFixed(2)} ms)`,
      target: `≤ +${moreMsMax} ms`,
      isMet: more <= moreMsMax,
    },
  ]
}
