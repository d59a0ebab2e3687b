import { eq, inArray, type SQL, sql } from 'drizzle-orm'
import type { Core } from '../core/core.ts'
import { erasing } from '../db/erasing.ts'
import { alerts, webhooks } from '../db/schema.ts'
import { type FieldError, invalidRequest } from '../errors.ts'
import { newId } from '../ids.ts'
import type { Addresses } from '../webhooks/addresses.ts'
import type { Destination } from './schemas.ts'

const keyPattern = /^[A-Za-z0-9_-]{8,100}$/
const shownChars = 4

/** A row of `webhooks` that alerts are sent to. */
type Row = Pick<typeof webhooks.$inferSelect, 'id' | 'kind' | 'url' | 'secret'>

/** A destination without its secrets. */
export interface OfferedDestination {
  id: string
  kind: Row['kind']
  /** `…90ab`; of a webhook with its host: `example.com …hook` */
  name: string
}

interface DestinationsParts {
  addresses: Pick<Addresses, 'problemOf'>
  /** Where events for PagerDuty go: https://developer.pagerduty.com/docs/send-alert-event */
  pagerDutyUrl: string
}

/** Where alerts are sent. Rules of a project that name the same address or key share its row. */
export class Destinations {
  readonly #parts: Core & DestinationsParts

  constructor(core: Core, parts: DestinationsParts) {
    this.#parts = { ...core, ...parts }
  }

  /** As people see them, in the order of each rule. Deleted webhooks are left out. */
  async byId(ids: readonly string[]): Promise<Map<string, Destination>> {
    return new Map((await this.#rowsOf(ids)).map((row) => [row.id, toShown(row)]))
  }

  /** Returns all destinations that the project's rules can use, the oldest first. */
  async offered(projectId: number): Promise<OfferedDestination[]> {
    const rows = await this.#parts.read
      .select()
      .from(webhooks)
      .where(eq(webhooks.projectId, projectId))
      .orderBy(webhooks.createdAt, webhooks.id)
    return rows.map((row) => ({ id: row.id, kind: row.kind, name: nameOf(row) }))
  }

  /**
   * The ids of destinations, and the statements that add those that are new and enable those that were switched off.
   * @param before of the rule that names them
   * @throws invalid_request naming each that cannot be sent to
   */
  async resolve(
    projectId: number,
    to: readonly Destination[],
    before: readonly string[],
  ): Promise<{ ids: string[]; statements: SQL[] }> {
    const { read, now } = this.#parts
    const hooks = await read.select().from(webhooks).where(sql`project_id = ${projectId}`)
    const ofRule = hooks.filter(({ id }) => before.includes(id))
    const errors: FieldError[] = []
    const rows = new Map<string, Row>()
    for (const [at, destination] of to.entries()) {
      const { kind, text } = partsOf(destination)
      const unchanged = ofRule.find(
        (row) => row.kind === kind && masked(textOf(row)) === text && !rows.has(row.id),
      )
      const target = unchanged ?? (await this.#read(kind, text, hooks))
      if (typeof target === 'string') errors.push({ field: `to.${at}.${kind}`, message: target })
      else {
        const same = [...hooks, ...rows.values()].find((row) => isSame(row, target))
        rows.set(same?.id ?? target.id, same ?? target)
      }
    }
    if (errors.length > 0) throw invalidRequest(errors)
    const statements = [...rows.values()].flatMap(({ id, kind, url, secret }) =>
      kind === 'webhook'
        ? []
        : sql`insert into ${webhooks} (id, project_id, kind, url, events, secret, created_at)
            values (${id}, ${projectId}, ${kind}, ${url}, '[]', ${secret}, ${now()})
            on conflict (id) do update set disabled_at = null, disabled_reason = null, failures = 0, failing_since = null`,
    )
    return { ids: [...rows.keys()], statements }
  }

  /** The statements that delete those of these destinations which no rule names any more, and erase their secrets. */
  release(projectId: number, ids: readonly string[]): SQL[] {
    const isUnused = (id: string) => sql`exists (
      select 1 from ${webhooks} where id = ${id} and kind <> 'webhook' and id not in (
        select destination.value from ${alerts}, json_each(destinations) as destination where project_id = ${projectId}))`
    return ids.flatMap((id) => [
      erasing(this.#parts, { projectId, kind: 'webhook', id }, isUnused(id)),
      sql`delete from ${webhooks} where id = ${id} and ${isUnused(id)}`,
    ])
  }

  /** A new row, or the known one of an id: of a webhook, or of an address or key that another rule has. @returns a string that says what is wrong */
  async #read(kind: Row['kind'], text: string, hooks: readonly Row[]): Promise<Row | string> {
    const { addresses, pagerDutyUrl } = this.#parts
    if (kind === 'webhook') return hooks.find((row) => row.id === text) ?? 'is no webhook of this project'
    const row = { id: newId('wh'), kind }
    if (kind === 'slack') return (await addresses.problemOf(text)) ?? { ...row, url: text, secret: '' }
    if (keyPattern.test(text)) return { ...row, url: pagerDutyUrl, secret: text }
    return 'must be an integration key of Events API v2'
  }

  async #rowsOf(ids: readonly string[]): Promise<Row[]> {
    if (ids.length === 0) return []
    return await this.#parts.read
      .select()
      .from(webhooks)
      .where(inArray(webhooks.id, [...ids]))
  }
}

/** The one member that there is: schemas.ts has checked it. */
function partsOf({ webhook, slack, pagerDuty }: Destination): { kind: Row['kind']; text: string } {
  if (webhook !== undefined) return { kind: 'webhook', text: webhook }
  if (slack !== undefined) return { kind: 'slack', text: slack }
  return { kind: 'pagerDuty', text: pagerDuty ?? '' }
}

function isSame(a: Row, b: Row): boolean {
  return a.kind === 'webhook' ? a.id === b.id : a.kind === b.kind && a.url === b.url && a.secret === b.secret
}

function toShown(row: Row): Destination {
  return row.kind === 'webhook' ? { webhook: row.id } : { [row.kind]: masked(textOf(row)) }
}

function nameOf(row: Row): string {
  return row.kind === 'webhook' ? `${new URL(row.url).host} ${masked(row.url)}` : masked(textOf(row))
}

function textOf({ kind, url, secret }: Row): string {
  return kind === 'slack' ? url : secret
}

function masked(text: string): string {
  return `…${text.slice(-shownChars)}`
}
