import { sql } from 'drizzle-orm'
import { LRUCache } from 'lru-cache'
import type { WindowFigures } from '../calls/figures/window-figures.ts'
import type { Core } from '../core/core.ts'
import type { Job, Turn } from '../core/jobs.ts'
import { alertChanges, alerts, projects } from '../db/schema.ts'
import { type AlertMessages, type Period, queueing, type StoredAlert, windowOf } from './alert-message.ts'
import type { AlertMessage, AlertState, Rule } from './schemas.ts'
import { nextState } from './state.ts'

const minuteMs = 60_000
const lookEveryMs = 1_000
/** Where no project has a rule. */
const lookIdleMs = 10_000
const retryMsMax = 30_000
const figuresKnownMax = 20_000
/** Spreads the rules over the minute: a prime number of milliseconds, so that rules made together are far apart. */
const slotMs = 7_919
/** An evaluation may come this much sooner after the last message than it should be repeated. */
const repeatEarlyMs = minuteMs / 2

interface AlertWatchParts {
  figures: WindowFigures
  messages: AlertMessages
}

/** A rule to evaluate, and what is known of it. */
interface DueAlert extends StoredAlert {
  version: number
  changeSeq: number
  state: AlertState
  value: number | null
  calls: number
  sentAt: number | null
}

interface KnownFigure {
  version: number
  changeSeq: number
  /** The figure stays as it is until this time. */
  until: number
  figure: { value: number | null; calls: number }
}

/** Evaluates each rule once a minute, in the process that owns the folder. */
export class AlertWatch {
  readonly #parts: Core & AlertWatchParts
  readonly #job: Job
  /** The last figures by the number of the rule. */
  readonly #figures = new LRUCache<number, KnownFigure>({ max: figuresKnownMax })
  #lookedAt: number

  constructor(core: Core, parts: AlertWatchParts) {
    this.#parts = { ...core, ...parts }
    // A start evaluates all rules, since no process may have run when they were due.
    this.#lookedAt = core.now() - minuteMs
    this.#job = core.jobs.add({
      name: 'alerts',
      run: (turn) => this.#evaluateDue(turn),
      retryMsMax,
      failure: 'Evaluating alerts failed',
      level: 'warn',
    })
  }

  /** Evaluates the rules of which a minute is over. */
  now(): Promise<void> {
    return this.#job.now()
  }

  /** Resolves to the time until the next look. */
  async #evaluateDue({ signal, isMine }: Turn): Promise<number> {
    const { read, now, log } = this.#parts
    const time = now()
    const [any] = await read.all(sql`select 1 from ${alerts} limit 1`)
    if (any === undefined) {
      this.#lookedAt = time
      return lookIdleMs
    }
    // The clock may be set back.
    const before = Math.min(this.#lookedAt, time)
    const due = await this.#readDue(before, time)
    if (due.length > 0 && (await isMine())) {
      const figures: { seq: number; version: number; value: number | null; calls: number }[] = []
      for (const alert of due) {
        signal.throwIfAborted()
        try {
          const figure = await this.#evaluate(alert, time)
          if (figure) figures.push({ seq: alert.seq, version: alert.version, ...figure })
        } catch (error) {
          // The other rules go on; this one is evaluated again in a minute.
          log.warn({ error, alert: alert.id }, 'An alert was not evaluated')
        }
      }
      await this.#write(figures)
    }
    this.#lookedAt = time
    return lookEveryMs
  }

  /** The rules whose moment within the minute has come since the last look. */
  async #readDue(before: number, time: number): Promise<DueAlert[]> {
    const minutes = (at: number) =>
      sql`(${sql.raw(`${at}`)} - alerts.seq * ${sql.raw(`${slotMs}`)} % ${sql.raw(`${minuteMs}`)}) / ${sql.raw(`${minuteMs}`)}`
    const rows = await this.#parts.read.all<Omit<DueAlert, 'rule'> & { rule: string }>(sql`
      select alerts.seq as seq, alerts.id as id, alerts.project_id as projectId, public_id as project, rule,
        version, change_seq as changeSeq, state, value, alerts.calls as calls, sent_at as sentAt
      from ${alerts} cross join ${projects} on projects.id = alerts.project_id
      where not is_paused and deleted_at is null and ${minutes(time)} > ${minutes(before)}`)
    return rows.map((row) => ({ ...row, rule: JSON.parse(row.rule) as Rule }))
  }

  /** @returns the figure if it has to be written; a change of state is written with it */
  async #evaluate(alert: DueAlert, time: number): Promise<KnownFigure['figure'] | null> {
    const { messages } = this.#parts
    const period = windowOf(alert.rule, time)
    const figure = await this.#figureOf(alert, period)
    const { state, limit } = nextState(alert.rule, figure, alert.state)
    const isChanged = state !== alert.state
    if (isChanged || isRepeated(alert, time)) {
      const message = messages.of(alert, { state, limit, ...figure }, period)
      await this.#change(alert, { ...figure, state, message, isChanged }, time)
      return null
    }
    return figure.value === alert.value && figure.calls === alert.calls ? null : figure
  }

  /** Read again only if a call has changed, come into the window or left it. */
  async #figureOf(
    { seq, projectId, rule, version, changeSeq }: DueAlert,
    period: Period,
  ): Promise<KnownFigure['figure']> {
    const { figures } = this.#parts
    const last = this.#figures.get(seq)
    if (last?.version === version && last.changeSeq === changeSeq && period.to <= last.until)
      return last.figure
    // First, so that what is written between the two is read again.
    const until = await figures.steadyUntil(projectId, rule, period)
    const figure = await figures.read(projectId, rule, period)
    this.#figures.set(seq, { version, changeSeq, until, figure })
    return figure
  }

  /** The state, its history and the messages are written together, so that none is lost or made twice. */
  async #change(
    alert: DueAlert,
    {
      state,
      value,
      calls,
      message,
      isChanged,
    }: Pick<DueAlert, 'state' | 'value' | 'calls'> & { message: AlertMessage; isChanged: boolean },
    time: number,
  ): Promise<void> {
    const { seq, version, sentAt } = alert
    const { of, show } = alert.rule
    const since = isChanged ? sql`${time}` : sql`since`
    await this.#parts.write.batch({
      changed: sql`
        update ${alerts} set state = ${state}, since = ${since}, value = ${value}, calls = ${calls}, sent_at = ${time}
        where seq = ${seq} and version = ${version} and state = ${alert.state} and sent_at is ${sentAt} and not is_paused`,
      history: isChanged
        ? [
            sql`insert into ${alertChanges} (alert_seq, at, message)
              select ${seq}, ${time}, ${JSON.stringify({ ...message, of, show })} where changes() > 0`,
          ]
        : [],
      messages: queueing(alert, message, time),
    })
  }

  async #write(figures: readonly object[]): Promise<void> {
    if (figures.length === 0) return
    await this.#parts.write.run(sql`
      update ${alerts} set value = figure.value ->> 'value', calls = figure.value ->> 'calls'
      from json_each(${JSON.stringify(figures)}) as figure
      where alerts.seq = figure.value ->> 'seq' and version = figure.value ->> 'version'`)
  }
}

function isRepeated({ rule: { repeatMinutes }, state, sentAt }: DueAlert, time: number): boolean {
  if (repeatMinutes === null || sentAt === null || (state !== 'alert' && state !== 'warning')) return false
  return time - sentAt >= repeatMinutes * minuteMs - repeatEarlyMs
}
