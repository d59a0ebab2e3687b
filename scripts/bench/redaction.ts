import { redactionKinds } from '../../src/redaction/kinds.ts'
import { type Accuracy, measureAccuracy, redacted } from '../../tests/redaction/accuracy/accuracy.ts'
import { type FormSet, formSets } from '../../tests/redaction/accuracy/planted.ts'
import { makeDataset } from '../dataset.ts'
import { ask } from '../requests.ts'
import { atMost, type Row, row } from './figures.ts'
import { median } from './load.ts'
import type { Options } from './runner.ts'

const shareMin = 0.98
const putsCount = 800
const moreMsMax = 1

/** How much planted data is redacted, how much else is, and what redaction costs a write. */
export async function benchRedaction(options: Options): Promise<Row[]> {
  const dialogues = options.texts.dialogues.flatMap(({ transcript }) =>
    transcript?.length ? [transcript] : [],
  )
  const accuracies = formSets.map((set) => accuracyRow(set, measureAccuracy(dialogues, set)))
  const startedAt = performance.now()
  for (const turns of dialogues) for (const { content } of turns) redacted(content)
  const msEach = (performance.now() - startedAt) / dialogues.length
  return [
    ...accuracies,
    atMost('Redaction of a call, in the process of the service', msEach, moreMsMax, 'ms', ' on average'),
    await writesRow(options),
  ]
}

function accuracyRow({ name, atFirst }: FormSet, { all, ...kinds }: Record<string, Accuracy>): Row {
  const shares = (of?: Accuracy) => `${of?.recall.toFixed(3)}, ${of?.precision.toFixed(3)}`
  const first = atFirst ? `; at first ${atFirst.recall}, ${atFirst.precision}` : ''
  const each = Object.entries(kinds).map(([kind, accuracy]) => `${kind} ${shares(accuracy)}`)
  return row(
    `Redaction, ${name} set of forms: recall, precision`,
    `${shares(all)} of ${all?.wanted}${first} (${each.join('; ')})`,
    `≥ ${shareMin} each`,
    all !== undefined && Math.min(all.recall, all.precision) >= shareMin,
  )
}

/** Writes the same calls to two projects in turns, so that other load affects both. */
async function writesRow({ texts, start }: Options): Promise<Row> {
  const on = await makeDataset({
    fill: ({ settings }, projectId) =>
      settings.change(projectId, { redact: [...redactionKinds], country: 'US' }),
  })
  const off = await makeDataset({ name: 'plain', folder: on.folder })
  const { url } = await start(on.folder)
  const times: { on: number[]; off: number[] } = { on: [], off: [] }
  for (const [n, { id: _, ...body }] of texts.dialogues.slice(0, putsCount).entries()) {
    for (const side of n % 2 === 0 ? (['on', 'off'] as const) : (['off', 'on'] as const)) {
      const startedAt = performance.now()
      const key = (side === 'on' ? on : off).ingestKey
      await ask(url, { method: 'PUT', path: `/ingest/calls/call-${n}`, key, body })
      times[side].push(performance.now() - startedAt)
    }
  }
  const [withIt, without] = [median(times.on), median(times.off)]
  const what = `PUT of ${putsCount} calls, one at a time: median with redaction, more than without`
  return atMost(
    what,
    withIt - without,
    moreMsMax,
    'ms',
    ` (on ${withIt.toFixed(2)}, off ${without.toFixed(2)} ms)`,
  )
}
