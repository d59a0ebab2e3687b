import type { Readable, Writable } from 'node:stream'
import { loadConfig } from '../../src/config.ts'
import type { Project } from '../../src/projects/projects.ts'
import type { Services } from '../../src/services/services.ts'
import { columns, sentenceOf } from './sentences.ts'

/** How long a command may take to stop after it is asked to. */
const stopWithinMs = 10_000

interface Table {
  head: string[]
  rows: string[][]
  /** What to say where there are no rows. */
  none: string
}

/** Where a command reads and writes: those of its process, unless it is given others. */
export interface Streams {
  stdin: Readable
  stdout: Writable & { isTTY?: boolean }
  stderr: Writable & { isTTY?: boolean }
}

/** A command's surroundings: environment, terminal, signals, services. */
export class Shell {
  /** Aborted by the first signal to stop. */
  readonly signal: AbortSignal
  exitCode: 0 | 1 = 0
  readonly streams: Streams
  readonly #env: Record<string, string | undefined>
  #isStdoutClosed = false
  #isConfigured = false

  /** @param streams without them, the process's own, whose signals then stop the command */
  constructor(env: Record<string, string | undefined>, streams?: Streams) {
    this.#env = env
    this.streams = streams ?? process
    const stopping = new AbortController()
    this.signal = stopping.signal
    if (!streams) this.#heed(stopping)
    // `write` reports its own failures. Without a listener, this event would end the process.
    this.streams.stdout.on('error', () => undefined)
    this.streams.stderr.on('error', () => undefined)
  }

  #heed(stopping: AbortController): void {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(signal, () => {
        this.exitCode = 1
        // The second signal ends the command at once; committed writes are safe either way.
        if (stopping.signal.aborted) process.exit(1)
        stopping.abort(new Error('Interrupted.'))
        setTimeout(() => process.exit(1), stopWithinMs).unref()
      })
    }
  }

  /** A variable of the environment that an option names. */
  env(name: string): string | undefined {
    return this.#env[name]
  }

  get isTerminal(): boolean {
    return this.streams.stderr.isTTY === true
  }

  loadConfig() {
    const config = loadConfig(this.#env, this.isTerminal)
    for (const slip of this.#isConfigured ? [] : config.slips) this.say(slip)
    this.#isConfigured = true
    return config
  }

  /** Opens the services for `action` and closes them after it. */
  async withServices<Result>(
    action: (services: Services) => Promise<Result>,
    options: { takesFolder?: boolean } = {},
  ): Promise<Result> {
    const config = this.loadConfig()
    // Loaded only for a command that needs them, so that help and usage errors come at once.
    const { openLog } = await import('../../src/observability/log.ts')
    const { openServices } = await import('../../src/services/services.ts')
    const { consoleOrigin } = await import('./folder.ts')
    const { log, close: closeLog } = await openLog({
      level: 'warn',
      format: config.logFormat,
      ...(this.streams === process ? {} : { to: this.streams.stderr }),
    })
    try {
      const address = consoleOrigin(config)
      const services = await openServices({ config, log, role: 'command', address, ...options })
      try {
        return await action(services)
      } finally {
        await services.close()
      }
    } finally {
      await closeLog()
    }
  }

  /** The same for one project. @param project its id or name */
  async inProject<Result>(
    project: string,
    action: (services: Services, projectId: number) => Promise<Result>,
    options: { takesFolder?: boolean } = {},
  ): Promise<Result> {
    return await this.withServices(
      async (services) => action(services, (await services.projects.find(project)).projectId),
      options,
    )
  }

  /** The same for the project of a record. */
  async inProjectOf<Result>(
    kind: 'keys' | 'sources' | 'webhooks',
    id: string,
    action: (services: Services, projectId: number) => Promise<Result>,
  ): Promise<Result> {
    return await this.withServices(async (services) => action(services, await services[kind].projectOf(id)))
  }

  /** The projects that an option names: one, or all. */
  async projects({ projects }: Services, project: string | undefined): Promise<Project[]> {
    return project === undefined ? await projects.list() : [await projects.find(project)]
  }

  /** Answers what a run over many records did. It can be run again, since what it has done stays. */
  async answerRun(
    isJson: boolean | undefined,
    summary: { failed: number },
    { lines, again }: { lines: string | string[]; again: string },
  ): Promise<void> {
    if (summary.failed > 0 || this.signal.aborted) this.exitCode = 1
    if (this.signal.aborted) this.say(`Interrupted. ${again}`)
    await this.answer(isJson, summary, lines)
  }

  /** A command's result that is a list: JSON, or a table for people; a sentence says that there is nothing. */
  async answerList(isJson: boolean | undefined, values: readonly unknown[], table: Table): Promise<void> {
    const { head, rows, none } = table
    await this.answer(isJson, values, rows.length > 0 ? columns([head, ...rows]) : none)
  }

  /** The command's result: one JSON value, or lines for people. */
  async answer(isJson: boolean | undefined, value: unknown, lines: string | string[]): Promise<void> {
    await this.write(`${isJson ? JSON.stringify(value) : [lines].flat().join('\n')}\n`)
  }

  /** Resolves when the text is written; to false when nobody reads stdout any more. */
  async write(text: string): Promise<boolean> {
    if (this.#isStdoutClosed) return false
    const error = await new Promise<Error | null | undefined>((resolve) => {
      this.streams.stdout.write(text, resolve)
    })
    if (!error) return true
    this.#isStdoutClosed = true
    if ('code' in error && error.code === 'EPIPE') return false
    throw new Error(`The output cannot be written: ${sentenceOf(error)}`)
  }

  /** Prints a line on stderr. */
  say(line: string): void {
    this.streams.stderr.write(`${line}\n`)
  }

  /** Prints a problem on stderr. The command goes on and exits 1. */
  complain(line: string): void {
    this.exitCode = 1
    this.say(line)
  }

  /** Prints why the command failed. */
  explain(error: unknown): void {
    this.complain(this.signal.aborted ? 'Interrupted.' : sentenceOf(error))
  }

  /** Resolves when all output has left the process. */
  async flush(): Promise<void> {
    for (const stream of [this.streams.stdout, this.streams.stderr]) {
      await new Promise<void>((resolve) => stream.write('', () => resolve()))
    }
  }
}
