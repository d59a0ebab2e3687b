import { AppError } from '../errors.ts'
import { setUpOf } from './catalog.ts'
import { platforms, recordingAddressIn } from './platforms.ts'
import { originOf, type Sources, type WebhookSource } from './sources.ts'

/** How to ask a platform's API for a recording. */
interface RecordingRequest {
  /** What people call the platform. */
  label: string
  url: string
  headers: Record<string, string>
  /** The address in an answer of JSON; null if there is none. */
  addressIn(answer: unknown): string | null
}

/** Asks platforms for recordings, with the API keys of their sources. */
export class SourceRecordings {
  readonly #sources: Pick<Sources, 'open'>

  constructor(sources: Pick<Sources, 'open'>) {
    this.#sources = sources
  }

  /** A request, or why none can be made, as a sentence. */
  async requestFor(
    sourceId: string,
    call: { id: string; reference: string | null },
  ): Promise<RecordingRequest | { problem: string }> {
    const source = await this.#sources.open(sourceId).catch(nullIfGone)
    if (!source) return { problem: 'The source of this call was deleted.' }
    const { platform, options } = source
    const [{ label }, { recording }] = [setUpOf(platform), platforms[platform]]
    const { apiKey, host } = options
    if (!recording || apiKey === undefined)
      return { problem: `The source has no API key of ${label}. Save one, then try again.` }
    const { path, headers } = recording.request(call, apiKey)
    const origin = host === undefined ? recording.api : originOf(host)
    return {
      label,
      url: `${origin}${path}`,
      headers,
      addressIn: (answer) => recordingAddressIn(platforms[platform], answer),
    }
  }
}

function nullIfGone(error: unknown): WebhookSource | null {
  if (error instanceof AppError && error.code === 'not_found') return null
  throw error
}
