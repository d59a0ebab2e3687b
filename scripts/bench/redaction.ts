import { type Accuracy, measureAccuracy, redacted } from '../../tests/redaction/accuracy/accuracy.ts'
import { type FormSet, formSets } from '../../tests/redaction/accuracy/planted.ts'
import { atMost, type Row, row } from './figures.ts'
import type { Options } from './runner.ts'

const shareMin = 0.98
const moreMsMax = 1

/** How much planted data is redacted, how much else is, and what it costs. */
export async function benchRedaction({ texts }: Options): Promise<Row[]> {
  const dialogues = texts.dialogues.flatMap(({ transcript }) => (transcript?.length ? [transcript] : []))
  const accuracies = formSets.map((set) => accuracyRow(set, measureAccuracy(dialogues, set)))
  const startedAt = performance.now()
  for (const turns of dialogues) for (const { content } of turns) redacted(content)
  const msEach = (performance.now() - startedAt) / dialogues.length
  return [
    ...accuracies,
    atMost('Redaction of a call, in the process of the service', msEach, moreMsMax, 'ms', ' on average'),
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
