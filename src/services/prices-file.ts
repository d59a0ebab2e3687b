import { readFileSync } from 'node:fs'
import { readPrices } from '../calls/costs/prices.ts'
import { ConfigError } from '../config.ts'
import type { Price } from '../db/schema.ts'
import { AppError } from '../errors.ts'

/** The service's own list of prices. @param path null for none @throws ConfigError with each bad line */
export function readPricesFile(path: string | null): Price[] | null {
  if (path === null) return null
  try {
    return readPrices(JSON.parse(readFileSync(path, 'utf8')))
  } catch (error) {
    const problems =
      error instanceof AppError && error.errors
        ? error.errors.map(({ field, message }) => `${field} ${message}`)
        : [`cannot be read as JSON: ${error instanceof Error ? error.message : error}`]
    throw new ConfigError(problems.map((problem) => `PRICES_FILE ${problem}`))
  }
}
