import type { SQL } from 'drizzle-orm'
import { LRUCache } from 'lru-cache'
import type { Core } from '../core/core.ts'
import { ProjectWasDeleted } from '../errors.ts'
import type { ActedBy } from '../identity.ts'
import type { AuditAction } from './actions.ts'
import { rowOfCall } from './targets.ts'

/** The page polls a live call, so repeated reading is noted once in this time. */
const notedOnceMs = 900_000
const notedMax = 10_000
const exportForms = ['text/csv', 'application/x-ndjson']
const targetCharsMax = 200

interface Target {
  target: string
  targetRef?: SQL
}

/**
 * Notes who opens or exports calls, or listens to one, if the project's settings ask for it. A note has no call id and no search terms,
 * because it is not erased with the call. No method fails, and no request waits for a note. Without `by`, the reader is
 * the command line.
 */
export class ReadingNotes {
  readonly #core: Core
  /** When each reading was noted last. */
  readonly #notedAt = new LRUCache<string, number>({ max: notedMax })

  constructor(core: Core) {
    this.#core = core
  }

  async opened(projectId: number, by: ActedBy | undefined, callId: string): Promise<void> {
    await this.#note(projectId, by, 'call_opened', this.#callOf(projectId, callId))
  }

  async listened(projectId: number, by: ActedBy | undefined, callId: string): Promise<void> {
    await this.#note(projectId, by, 'recording_played', this.#callOf(projectId, callId))
  }

  /**
   * @param answer.type the media type; only those of exports are noted
   * @param answer.parameters the names of its known filters, never unknown names
   */
  async exported(
    projectId: number,
    by: ActedBy | undefined,
    { type, parameters }: { type: string | null; parameters: readonly string[] },
  ): Promise<void> {
    const form = exportForms.find((each) => type?.startsWith(each))
    if (!form) return
    const restricted = parameters.length > 0 ? `, restricted by ${[...parameters].sort().join(', ')}` : ''
    const target = (form + restricted).slice(0, targetCharsMax)
    await this.#note(projectId, by, 'calls_exported', { target })
  }

  #callOf(projectId: number, callId: string): Target {
    return {
      target: this.#core.recordHash(projectId, 'call', callId),
      targetRef: rowOfCall(projectId, callId),
    }
  }

  async #note(
    projectId: number,
    by: ActedBy | undefined,
    action: AuditAction,
    { target, targetRef }: Target,
  ): Promise<void> {
    const { settingsOf, audit, now, log } = this.#core
    const settings = await settingsOf(projectId).catch((error) => {
      // A project that was just deleted has no trail.
      if (!(error instanceof ProjectWasDeleted)) log.error({ error }, 'A reading of calls may not be noted')
      return null
    })
    if (!settings?.notesReading) return
    const actor = by && ('id' in by.actor ? by.actor.id : by.actor.keyId)
    const name = [projectId, actor, action, target].join(' ')
    const notedAt = this.#notedAt.get(name)
    if (notedAt !== undefined && Math.abs(now() - notedAt) < notedOnceMs) return
    this.#notedAt.set(name, now())
    await audit.record({ by, projectId, action, target, targetRef })
  }
}
