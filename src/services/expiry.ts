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
 * Each hour deletes old secrets, those of webhooks too, a day after their rotation, failures after a week, and the
 * questions that projects keep no longer.
 */
export class Expiry {
  readonly #background: Background

  constructor({ sources, sourceFailures, webhooks, questions, log }: ExpiryOptions) {
    this.#background = new Background({
      work: async () => {
        await sources.expireSecrets()
        await sourceFailures.expire()
        await webhooks.expireSecrets()
        await questions.expire()
      },
      everyMs,
      delayMs: 0,
      retryMs,
      onFailure: (error) => log.error({ error }, 'Deleting what is no longer kept failed; it is tried again'),
    })
  }

  /** Runs now, and again each hour. For the owner of the folder. */
  start(): void {
    this.#background.soon()
  }

  /** Deletes what is over. */
  run(): Promise<void> {
    return this.#background.now()
  }

  async close(): Promise<void> {
    await this.#background.close()
  }
}
