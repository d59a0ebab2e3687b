import { AppError } from '../../errors.ts'
import type { CallChange } from '../schemas.ts'
import type { Ingest } from './ingest.ts'

interface RequestIngestOptions {
  ingest: Pick<Ingest, 'put' | 'putAll'>
  /** Queues recordings to be fetched, if the project keeps them. */
  recordings: {
    enqueue(projectId: number, id: string, recording: { sourceId: null; url: string }): Promise<unknown>
  }
}

/** Writes what requests send, and queues the recordings that they name. An import queues none. */
export class RequestIngest {
  readonly #options: RequestIngestOptions

  constructor(options: RequestIngestOptions) {
    this.#options = options
  }

  /** @throws as `Ingest.put` */
  async put(...[projectId, id, change, options]: Parameters<Ingest['put']>): ReturnType<Ingest['put']> {
    const call = await this.#options.ingest.put(projectId, id, change, options)
    await this.#queueRecording(projectId, id, change)
    return call
  }

  async putAll(
    projectId: number,
    inputs: Parameters<Ingest['putAll']>[1],
  ): Promise<Awaited<ReturnType<Ingest['putAll']>>> {
    const outcomes = await this.#options.ingest.putAll(projectId, inputs)
    for (const [at, { id, change }] of inputs.entries()) {
      if (outcomes[at] instanceof AppError) continue
      try {
        await this.#queueRecording(projectId, id, change)
      } catch (error) {
        // The other lines are stored, and this one may be sent again.
        if (!(error instanceof AppError)) throw error
        outcomes[at] = error
      }
    }
    return outcomes
  }

  async #queueRecording(projectId: number, id: string, { details }: CallChange): Promise<void> {
    const url = details?.recordingUrl
    if (url) await this.#options.recordings.enqueue(projectId, id, { sourceId: null, url })
  }
}
