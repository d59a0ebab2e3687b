import type { Retention } from '../calls/keeping/retention.ts'
import type { ProjectSettings, SettingsOf } from '../db/project-settings.ts'
import { invalidRequest } from '../errors.ts'
import type { By } from '../identity.ts'
import type { SettingsChange } from '../projects/schemas.ts'
import type { Settings } from '../projects/settings.ts'

export interface PrivacyParts {
  settings: Settings
  settingsOf: SettingsOf
  retention: Retention
}

/**
 * Changes settings for a person, who has typed how many calls a shorter retention deletes.
 * @param change.confirm that number
 * @throws invalid_request for another number than there are, and naming each bad field; forbidden for others than owners
 */
export async function changeSettings(
  { settings, settingsOf, retention }: PrivacyParts,
  projectId: number,
  { confirm, ...change }: SettingsChange & { confirm?: number },
  by: By,
): Promise<ProjectSettings> {
  const { retainDays } = change
  const kept = (await settingsOf(projectId)).retainDays
  if (typeof retainDays === 'number' && (kept === null || retainDays < kept)) {
    const due = await retention.countDue(projectId, retainDays)
    if (due !== (confirm ?? 0)) {
      const message = `must be ${due}, the number of calls that this deletes`
      throw invalidRequest([{ field: 'confirm', message }])
    }
  }
  const changed = await settings.change(projectId, change, by)
  if (retainDays !== undefined) retention.schedule()
  return changed
}

/** How many calls are deleted next, or would be if calls were kept for so many days. */
export async function countDue(
  { settingsOf, retention }: PrivacyParts,
  projectId: number,
  days: string | undefined,
): Promise<{ calls: number }> {
  const retainDays = days ? Number(days) : (await settingsOf(projectId)).retainDays
  return { calls: retainDays === null ? 0 : await retention.countDue(projectId, retainDays) }
}
