import { createHmac } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import type { AuditAction } from '../../audit/actions.ts'
import type { Core } from '../../core/core.ts'
import { AppError, invalidRequest } from '../../errors.ts'
import type { ActedBy, SignedIn } from '../../identity.ts'
import type { Review } from '../schemas.ts'
import type { Ingest } from '../writing/ingest.ts'
import { type AnyReviewChange, actionsOf, changeReview, contentOf } from './review.ts'
import type { ChangedReview, ManyChange, UndoneChange } from './schemas.ts'

/** How many calls one transaction changes, so that other requests get a turn. */
const callsPerWrite = 50

/** Who reviews a call. */
interface Reviewer {
  person: Pick<SignedIn, 'name'>
  by: ActedBy
}

interface Audited {
  by: ActedBy
  actions: AuditAction[]
}

/** A call that was not changed, such as an unknown one. */
interface FailedReview {
  id: string
  message: string
}

interface ChangedReviews {
  changed: ChangedReview[]
  failed: FailedReview[]
}

interface UndoneReviews {
  undone: string[]
  failed: FailedReview[]
}

/** Makes a review of the stored one. */
type ToReview = (stored: Review | null, call: { id: string; at: string; turns: number }) => Review | null

/** People's reviews of calls: evaluation, note, labels, flags. Platforms never change them. */
export class Reviews {
  readonly #ingest: Ingest
  readonly #now: () => number
  readonly #secret: string

  constructor({ now, linkSecret }: Core, { ingest }: { ingest: Ingest }) {
    this.#ingest = ingest
    this.#now = now
    this.#secret = linkSecret
  }

  /**
   * Changes the review of a call. If two people change one member, the last wins; but a note that somebody has changed
   * since `noteBefore` stays. Returns the review; null if nothing is left of it.
   * @throws not_found; invalid_request; no_such_turn; note_has_changed
   */
  async change(
    projectId: number,
    id: string,
    change: AnyReviewChange,
    reviewer: Reviewer,
  ): Promise<Review | null> {
    for await (const { error, reviews } of this.#changeAll(projectId, [id], change, reviewer)) {
      if (error) throw error
      if (reviews) return reviews.after
    }
    return null
  }

  /** Makes one change of the reviews of many calls. The answer says what each call had before, for `undo`. */
  async changeMany(
    projectId: number,
    ids: readonly string[],
    change: ManyChange,
    reviewer: Reviewer,
  ): Promise<ChangedReviews> {
    const result: ChangedReviews = { changed: [], failed: [] }
    for await (const { id, error, reviews } of this.#changeAll(projectId, ids, change, reviewer)) {
      if (error) result.failed.push(failureOf(id, error))
      if (error || !reviews || reviews.after === reviews.before) continue
      const { before, after } = reviews
      const call = { id, at: after?.at ?? null, before: before && manyOf(before) }
      result.changed.push({ ...call, seal: this.#seal(projectId, change, call) })
    }
    return result
  }

  /** Puts back what calls had before a change, but for calls whose reviews have changed since. @throws invalid_request */
  async undo(projectId: number, { change, changed }: UndoneChange, by: ActedBy): Promise<UndoneReviews> {
    // Without it, one could write what somebody else is said to have judged.
    if (changed.some((call) => call.seal !== this.#seal(projectId, change, call)))
      throw invalidRequest([{ field: 'changed', message: 'must be what the change has answered' }])
    const calls = new Map(changed.map((call) => [call.id, call]))
    const toReview: ToReview = (stored, { id }) => {
      const call = calls.get(id)
      if (call?.at !== (stored?.at ?? null))
        throw invalidRequest([{ field: 'changed', message: 'has been reviewed since' }])
      return call.before && { ...contentOf(stored), ...call.before }
    }
    const result: UndoneReviews = { undone: [], failed: [] }
    const audited = { by, actions: actionsOf(change) }
    for await (const { id, error } of this.#writeAll(projectId, [...calls.keys()], audited, toReview)) {
      if (error) result.failed.push(failureOf(id, error))
      else result.undone.push(id)
    }
    return result
  }

  #seal(projectId: number, change: ManyChange, { id, at, before }: Omit<ChangedReview, 'seal'>): string {
    const text = JSON.stringify(['change', projectId, actionsOf(change), id, at, before])
    return createHmac('sha256', this.#secret).update(text).digest('base64url')
  }

  #changeAll(projectId: number, ids: readonly string[], change: AnyReviewChange, { person, by }: Reviewer) {
    return this.#writeAll(projectId, ids, { by, actions: actionsOf(change) }, (stored, { at, turns }) =>
      changeReview(stored, change, { by: person.name, at, turns }),
    )
  }

  async *#writeAll(projectId: number, all: readonly string[], audited: Audited, toReview: ToReview) {
    const ids = [...new Set(all)]
    for (let from = 0; from < ids.length; from += callsPerWrite) {
      if (from > 0) await setImmediate()
      const some = ids.slice(from, from + callsPerWrite)
      const reviews = new Map<string, { before: Review | null; after: Review | null }>()
      const at = new Date(this.#now()).toISOString()
      const inputs = some.map((id) => ({
        id,
        change: {},
        audited,
        own: {
          review: (before: Review | null, turns: number) => {
            const after = toReview(before, { id, at, turns })
            reviews.set(id, { before, after })
            return after
          },
        },
      }))
      const results = await this.#ingest.putAll(projectId, inputs)
      for (const [position, id] of some.entries()) {
        const result = results[position]
        yield { id, error: result instanceof AppError ? result : null, reviews: reviews.get(id) }
      }
    }
  }
}

/** What a change of many calls may replace, and whose it was. */
function manyOf(review: Review): ChangedReview['before'] {
  const { evaluation, reviewed, assignee, labels } = contentOf(review)
  return { evaluation, reviewed, assignee, labels, by: review.by, at: review.at }
}

function failureOf(id: string, { errors, title }: AppError): FailedReview {
  return { id, message: errors?.[0]?.message ?? title }
}
