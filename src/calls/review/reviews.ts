import { setImmediate } from 'node:timers/promises'
import { AppError } from '../../errors.ts'
import type { ActedBy, SignedIn } from '../../identity.ts'
import type { Review } from '../schemas.ts'
import type { Ingest } from '../writing/ingest.ts'
import { actionsOf, changeReview } from './review.ts'
import type { ReviewChange } from './schemas.ts'

/** How many calls one transaction changes, so that other requests get a turn. */
const callsPerWrite = 50

/** Who reviews a call. */
interface Reviewer {
  person: Pick<SignedIn, 'name'>
  by: ActedBy
}

/** The result of changing the reviews of many calls. */
interface ChangedReviews {
  /** The ids of calls whose reviews have changed. */
  changed: string[]
  /** Calls that were not changed, such as unknown ones. */
  failed: { id: string; message: string }[]
}

/** People's reviews of calls: evaluation, note, labels, flags. Platforms never change them. */
export class Reviews {
  readonly #ingest: Ingest
  readonly #now: () => number

  constructor({ ingest, now }: { ingest: Ingest; now: () => number }) {
    this.#ingest = ingest
    this.#now = now
  }

  /**
   * Changes the review of a call. If two people change one member, the last wins; but a note that somebody has changed
   * since `noteBefore` stays. @throws not_found; no_such_turn; note_has_changed
   */
  async change(projectId: number, id: string, change: ReviewChange, reviewer: Reviewer): Promise<void> {
    for await (const { error } of this.#changeAll(projectId, [id], change, reviewer)) if (error) throw error
  }

  /** Makes one change of the reviews of many calls. */
  async changeMany(
    projectId: number,
    ids: readonly string[],
    change: ReviewChange,
    reviewer: Reviewer,
  ): Promise<ChangedReviews> {
    const result: ChangedReviews = { changed: [], failed: [] }
    for await (const { id, error, isChanged } of this.#changeAll(projectId, ids, change, reviewer)) {
      if (error) result.failed.push({ id, message: error.errors?.[0]?.message ?? error.title })
      else if (isChanged) result.changed.push(id)
    }
    return result
  }

  async *#changeAll(projectId: number, all: readonly string[], change: ReviewChange, reviewer: Reviewer) {
    const audited = { by: reviewer.by, actions: actionsOf(change) }
    const ids = [...new Set(all)]
    for (let from = 0; from < ids.length; from += callsPerWrite) {
      if (from > 0) await setImmediate()
      const some = ids.slice(from, from + callsPerWrite)
      const changed = new Set<string>()
      const at = new Date(this.#now()).toISOString()
      const inputs = some.map((id) => ({
        id,
        change: {},
        audited,
        own: {
          review: (storedReview: Review | null, turns: number) => {
            const after = changeReview(storedReview, change, { by: reviewer.person.name, at, turns })
            if (after !== storedReview) changed.add(id)
            else changed.delete(id)
            return after
          },
        },
      }))
      const results = await this.#ingest.putAll(projectId, inputs)
      for (const [position, id] of some.entries()) {
        const result = results[position]
        yield { id, error: result instanceof AppError ? result : null, isChanged: changed.has(id) }
      }
    }
  }
}
