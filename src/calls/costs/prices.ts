import { Type } from '@sinclair/typebox'
import type { Price } from '../../db/schema.ts'
import { AppError, type FieldError, invalidRequest } from '../../errors.ts'
import { readInstant } from '../../text/instant.ts'
import { compileCheck } from '../../validation.ts'
import type { Usage } from '../schemas.ts'

const pricesMax = 1_000
const textCharsMax = 200
const tokenPrices = ['input', 'cachedInput', 'cacheWrite', 'audioInput', 'output', 'audioOutput'] as const
/** How much a price is for. */
const units = {
  '1M tokens': 1e6,
  '1K tokens': 1e3,
  minute: 60,
  '1K characters': 1e3,
  '1M characters': 1e6,
} as const satisfies Record<Price['per'], number>

const text = Type.String({ minLength: 1, maxLength: textCharsMax })
const amount = Type.Optional(Type.Number({ minimum: 0 }))
const Line = Type.Object({
  kind: Type.String({ enum: ['llm', 'stt', 'tts'] }),
  provider: Type.Optional(Type.Unsafe<string | null>({ ...text, nullable: true })),
  model: text,
  from: text,
  per: Type.String({ enum: Object.keys(units) }),
  ...Object.fromEntries([...tokenPrices, 'price'].map((name) => [name, amount])),
})
const check = compileCheck(Type.Array(Line, { maxItems: pricesMax }))

/** A list of prices from outside. @throws invalid_request naming each bad line, counted from 1 */
export function readPrices(value: unknown): Price[] {
  try {
    // The check has seen each member.
    const prices = check(value) as Price[]
    const errors = prices.flatMap(lineErrors)
    if (errors.length > 0) throw invalidRequest(errors)
    return prices
  } catch (error) {
    if (!(error instanceof AppError) || !error.errors) throw error
    throw invalidRequest(
      error.errors.map(({ field, message }) => ({
        field: field.replace(/^\d+/, (at) => `line ${Number(at) + 1}`),
        message,
      })),
    )
  }
}

function lineErrors(price: Price, at: number): FieldError[] {
  const { model, from, per, ...others } = price
  const amounts = isOfTokens(per) ? tokenPrices : (['price'] as const)
  const { kind: _, provider: __, ...given } = others
  const errors = Object.keys(given).flatMap((name) => {
    if ((amounts as readonly string[]).includes(name)) return []
    return [[name, name in Line.properties ? `cannot come with ${per}` : 'is not known']]
  })
  if (amounts.every((name) => price[name] === undefined))
    errors.push(['per', `needs ${amounts.join(' or ')}`])
  if (/\*./.test(model)) errors.push(['model', 'can have * only at its end'])
  if (readInstant(from) === null && readInstant(`${from}T00:00:00Z`) === null)
    errors.push(['from', 'must be a date that exists, such as 2026-01-01'])
  return errors.map(([name = '', message = '']) => ({ field: `${at}.${name}`, message }))
}

function isOfTokens(per: Price['per']): boolean {
  return per.endsWith('tokens')
}

/** What was used costs in US dollars; or what of it has no price, so that the whole has none. */
export function costOf(
  usage: readonly Usage[],
  prices: readonly Price[],
  createdAt: number,
): { costUsd: number } | { missing: string[] } {
  const missing: string[] = []
  let costUsd = 0
  for (const entry of usage) {
    const price = prices.findLast((each) => isFor(each, entry, createdAt))
    for (const [part, count, amount] of price ? partsOf(entry, price) : [['', 0, undefined] as const])
      if (price && amount !== undefined) costUsd += (count / units[price.per]) * amount
      else missing.push([entry.kind, entry.provider, entry.model, part].filter(Boolean).join(' '))
  }
  return missing.length > 0 ? { missing } : { costUsd }
}

function isFor(price: Price, { kind, provider, model }: Usage, createdAt: number): boolean {
  const isModel = price.model.endsWith('*')
    ? (model ?? '').startsWith(price.model.slice(0, -1))
    : model === price.model
  const isProvider = (price.provider ?? null) === null || price.provider === provider
  return price.kind === kind && isModel && isProvider && Date.parse(price.from) <= createdAt
}

/** Each part that was used, how much of it, and its price; undefined for none. */
function partsOf(entry: Usage, price: Price): (readonly [part: string, count: number, amount?: number])[] {
  const [cachedInput, cacheWrite, audioInput, audioOutput] = [
    entry.cachedTokens ?? 0,
    entry.cacheWriteTokens ?? 0,
    entry.audioInputTokens ?? 0,
    entry.audioOutputTokens ?? 0,
  ]
  const counts = {
    input: (entry.inputTokens ?? 0) - cachedInput - cacheWrite - audioInput,
    cachedInput,
    cacheWrite,
    audioInput,
    output: (entry.outputTokens ?? 0) - audioOutput,
    audioOutput,
  }
  const used = tokenPrices.filter((part) => counts[part] > 0)
  if (!isOfTokens(price.per)) {
    const unit = price.per === 'minute' ? 'seconds' : 'characters'
    const count = entry[unit] ?? null
    const tokens = used.map((part) => [part, counts[part]] as const)
    return [...tokens, count === null ? [unit, 0] : [unit, count, price.price]]
  }
  const hasTokens = [entry.inputTokens, entry.outputTokens].some((count) => typeof count === 'number')
  return hasTokens ? used.map((part) => [part, counts[part], price[part]] as const) : [['tokens', 0]]
}
