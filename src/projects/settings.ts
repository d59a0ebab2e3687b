import { and, eq, isNull } from 'drizzle-orm'
import type { Core } from '../core/core.ts'
import { type ProjectSettings, readSettings, settingsColumns } from '../db/project-settings.ts'
import { ownsProject } from '../db/requirements.ts'
import { type Price, projects } from '../db/schema.ts'
import { invalidRequest, ProjectWasDeleted } from '../errors.ts'
import type { ActedBy } from '../identity.ts'
import { zoneName } from '../text/zone.ts'
import { compileCheck } from '../validation.ts'
import { SettingsChange } from './schemas.ts'

const check = compileCheck(SettingsChange)
const regions = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' })
/** CLDR regions that are not countries by ISO 3166-1. */
const noCountries = ['EU', 'EZ', 'UN', 'XA', 'XB', 'ZZ']

interface SettingsParts {
  /** Checks a list of prices. @throws invalid_request naming each bad line */
  readPrices: (value: unknown) => Price[]
}

/** Changes projects' settings. */
export class Settings {
  readonly #parts: Core & SettingsParts

  constructor(core: Core, parts: SettingsParts) {
    this.#parts = { ...core, ...parts }
  }

  /**
   * Changes settings and records each change in the audit trail. Takes effect with the next request.
   * @throws invalid_request naming each bad field; forbidden unless `by` owns the project
   */
  async change(projectId: number, change: SettingsChange, by?: ActedBy): Promise<ProjectSettings> {
    const { read, write, audit, readPrices } = this.#parts
    // Not the cached settings, which may be those from before a change of this very moment.
    const current = await readSettings(read, projectId)
    const next = withRecordings(normalized(check(change)), current)
    if (next.prices) readPrices(next.prices)
    refuseLongerThanCalls({ ...current, ...next })
    refuseMutingNothing({ ...current, ...next })
    const before: Record<string, unknown> = { ...current }
    // A body may have other members, even names of other columns.
    const changes = Object.entries(next).filter(
      ([name, value]) =>
        Object.hasOwn(settingsColumns, name) &&
        value !== undefined &&
        JSON.stringify(value) !== JSON.stringify(before[name]),
    )
    if (changes.length === 0) return current
    const target = changes.map(([name, value]) => `${name}: ${asText(value)}`).join('; ')
    const isThere = and(eq(projects.id, projectId), isNull(projects.deletedAt))
    const { updated } = await write.batchIf([ownsProject(projectId, by)], {
      updated: write
        .update(projects)
        .set(Object.fromEntries(changes))
        .where(isThere)
        .returning(settingsColumns),
      entry: audit.entry({ by, projectId, action: 'settings_changed', target }),
    })
    if (!updated[0]) throw new ProjectWasDeleted()
    return updated[0]
  }
}

/** Removes repeated kinds, makes the country upper-case, and spells the time zone as IANA does. */
function normalized({ redact, country, timeZone, ...rest }: SettingsChange): SettingsChange {
  const isCountry = (code: string) =>
    /^[A-Z]{2}$/.test(code) && !noCountries.includes(code) && regions.of(code) !== undefined
  const code = country?.toUpperCase()
  if (code !== undefined && !isCountry(code)) {
    const message = 'must be a two-letter country code (ISO 3166-1), such as US, or null'
    throw invalidRequest([{ field: 'country', message }])
  }
  const zone = typeof timeZone === 'string' ? zoneName(timeZone) : timeZone
  if (zone === null && timeZone !== null) {
    const message = 'must be a time zone (IANA), such as Europe/Berlin, or null'
    throw invalidRequest([{ field: 'timeZone', message }])
  }
  return {
    ...rest,
    ...(zone !== undefined && { timeZone: zone }),
    ...(redact && { redact: [...new Set(redact)] }),
    ...(country !== undefined && { country: code ?? null }),
  }
}

/** Sound has what is redacted, so switching redaction on stops fetching it, unless the same change says otherwise. */
function withRecordings(change: SettingsChange, { redact }: ProjectSettings): SettingsChange {
  const isSwitchedOn = redact.length === 0 && (change.redact?.length ?? 0) > 0
  return isSwitchedOn && change.recordings === undefined ? { ...change, recordings: 'off' } : change
}

/** @throws invalid_request */
function refuseLongerThanCalls({ retainDays, recordingRetainDays }: ProjectSettings): void {
  if (retainDays === null || recordingRetainDays === null || recordingRetainDays <= retainDays) return
  const message = `must be at most ${retainDays}, the days for which calls are kept`
  throw invalidRequest([{ field: 'recordingRetainDays', message }])
}

/** What is redacted decides what is muted. @throws invalid_request */
function refuseMutingNothing({ redact, recordings }: ProjectSettings): void {
  if (recordings !== 'mute' || redact.length > 0) return
  const message =
    'cannot be mute in a project that redacts nothing: change redact, or recordings to keep or off'
  throw invalidRequest([{ field: 'recordings', message }])
}

/** A value as text for the audit trail. */
function asText(value: unknown): string {
  if (value === null || value === false || (Array.isArray(value) && value.length === 0)) return 'off'
  if (Array.isArray(value) && typeof value[0] === 'object') return `${value.length} lines`
  return value === true ? 'on' : String(value)
}
