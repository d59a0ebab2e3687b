import type { CallDetails } from '../../../../calls/schemas.ts'
import { asDecimal, asDollars, counted } from '../../components/figures.ts'
import classes from './call.module.css'

const kindWords: Record<string, string> = { llm: 'model', stt: 'transcription', tts: 'voice' }

/** What a call cost and, folded below it, of what and for what. */
export function CostFact({ details: { costUsd, costParts, usage } }: { details: CallDetails }) {
  const cost = <span className="cb-figure">{costUsd === null ? 'Not known' : asDollars(costUsd)}</span>
  const lines = [partWords(costParts ?? []), ...(usage ?? []).map(usageWords)].filter((line) => line !== '')
  if (lines.length === 0) return cost
  return (
    <details className={classes.cost}>
      <summary>{cost}</summary>
      {lines.map((line) => (
        <p key={line} dir="auto">
          {line}
        </p>
      ))}
    </details>
  )
}

/** `model 0.021 · voice 0.014`: in dollars, the parts of a kind together. */
function partWords(parts: NonNullable<CallDetails['costParts']>): string {
  const sums = new Map<string, number>()
  for (const { kind = 'other', usd } of parts) sums.set(kind, (sums.get(kind) ?? 0) + usd)
  return [...sums]
    .filter(([, usd]) => usd > 0)
    .map(([kind, usd]) => `${kindWords[kind] ?? kind} ${asDecimal(usd, 4)}`)
    .join(' · ')
}

/** `gpt-4o: 4,200 tokens in, 3,000 of them cached, 310 out` */
function usageWords(used: NonNullable<CallDetails['usage']>[number]): string {
  const { inputTokens, cachedTokens, outputTokens, characters, seconds } = used
  const words = [
    inputTokens && `${counted(inputTokens, 'token')} in`,
    cachedTokens && `${asDecimal(cachedTokens)} of them cached`,
    outputTokens && `${counted(outputTokens, 'token')} out`,
    characters && counted(characters, 'character'),
    seconds && `${asDecimal(seconds)} s`,
  ].filter(Boolean)
  const name = used.model ?? used.provider ?? kindWords[used.kind]
  return words.length === 0 ? '' : `${name}: ${words.join(', ')}`
}
