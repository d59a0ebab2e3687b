import { type SQL, sql } from 'drizzle-orm'
import type { WindowFigures } from '../calls/figures/window-figures.ts'
import type { Core } from '../core/core.ts'
import { projects, webhookQueue, webhooks } from '../db/schema.ts'
import type { AlertMessage, Rule } from './schemas.ts'

/** Milliseconds since 1970: `from` is included, `to` is not. */
export type Period = Record<'from' | 'to', number>

/** A rule as it is stored. */
export interface StoredAlert {
  seq: number
  id: string
  projectId: number
  /** The project's public id. */
  project: string
  rule: Rule
}

/** Writes messages. */
export class AlertMessages {
  readonly #parts: Core & { figures: WindowFigures }

  constructor(core: Core, parts: { figures: WindowFigures }) {
    this.#parts = { ...core, ...parts }
  }

  of(
    { id, project, rule }: StoredAlert,
    { state, value, limit, calls }: Pick<AlertMessage, 'state' | 'value' | 'limit' | 'calls'>,
    period: Period,
  ): AlertMessage {
    const { figures, site } = this.#parts
    const pairs = Object.entries(figures.queryOf(rule, period)).flatMap(([name, texts]) =>
      texts.map((text): [string, string] => [name, text]),
    )
    const [from, to] = [new Date(period.from).toISOString(), new Date(period.to).toISOString()]
    const url = `${site.address}/console/p/${project}/calls?${new URLSearchParams(pairs)}`
    return { id, name: rule.name, state, value, limit, calls, from, to, url }
  }
}

/** The last minutes of the rule. */
export function windowOf({ windowMinutes }: Rule, to: number): Period {
  return { from: to - windowMinutes * 60_000, to }
}

/**
 * The statement that queues a message for the rule's destinations, if the statement before it has changed a row. The
 * messages of a rule are sent in their order.
 */
export function queueing(
  { seq, id }: Pick<StoredAlert, 'seq' | 'id'>,
  message: AlertMessage,
  at: number,
): SQL {
  return sql`
    insert into ${webhookQueue} (webhook_id, kind, record, ref, alert, event, seq, at)
    select webhooks.id, 'alert', alerts.seq, ${id}, ${JSON.stringify(message)}, 'alert.changed', change_seq, ${at}
    from alerts cross join json_each(alerts.destinations) as destination
      cross join ${webhooks} on webhooks.id = destination.value and webhooks.disabled_at is null
      cross join ${projects} on projects.id = alerts.project_id
    where alerts.seq = ${seq} and changes() > 0`
}
