import type { Log } from '../observability/log.ts'
import type { SourceFailures } from '../sources/source-failures.ts'
import type { Sources } from '../sources/sources.ts'
import { Background } from '../threads/background.ts'

const everyMs = 3_600_000
const retryMs = 60_000

interface ExpiryOptions {
  sources: Sources
  sourceFailures: SourceFailures
  webhooks: { expireSecrets(): Promise<void> }
  questions: { expire(): Promise<void> }
  log: Pick<Log, 'error'>
}

/**
 * Hourly deletes previous secrets of sources and webhooks a day after their rotation, failures after a week, and
 * expired questions.
 */
export function createExpiry({
  sources,
  sourceFailures,
  webhooks,
  questions,
  log,
}: ExpiryOptions): Background {
  return new Background({
    work: async () => {
      await sources.expireSecrets()
      await sourceFailures.expire()
      await webhooks.expireSecrets()
      await questions.expire()
    },
    everyMs,
    retryMs,
    onFailure: (error) => log.error({ error }, 'Deleting expired source data failed and will be tried again'),
  })
}
