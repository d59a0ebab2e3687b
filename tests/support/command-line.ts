import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { runCommand } from '../../scripts/commands/command-line.ts'
import { Shell } from '../../scripts/commands/shell.ts'
import { freshFolder } from './at-end.ts'
import { asCommand } from './command.ts'
import { repository } from './process.ts'
import { startService, type TestService } from './service.ts'

interface Ran {
  code: number
  out: string
  err: string
}

interface RunOptions {
  stdin?: string
  env?: Record<string, string>
}

/** What a command has written. */
class Kept extends Writable {
  text = ''
  readonly #decoder = new StringDecoder()

  override _write(part: Buffer, _encoding: string, done: () => void): void {
    this.text += this.#decoder.write(part)
    done()
  }
}

/** The real command line, in a folder of its own unless it is given one. */
export class CommandLine {
  readonly dataDir: string

  constructor(dataDir = freshFolder()) {
    this.dataDir = dataDir
  }

  spawn(args: string[], { stdin = '', env = {} }: RunOptions = {}) {
    return Bun.spawn(['bun', 'scripts/callbook.ts', ...args], {
      cwd: repository,
      env: { ...process.env, EMBEDDING_PROVIDER: 'builtin', ...env, DATA_DIR: this.dataDir },
      stdin: new Blob([stdin]),
      stdout: 'pipe',
      stderr: 'pipe',
    })
  }

  /** Runs the command in this process, where it costs a tenth. `spawned` is the same in one of its own. */
  async run(args: string[], { stdin = '', env = {} }: RunOptions = {}): Promise<Ran> {
    const [stdout, stderr] = [new Kept(), new Kept()]
    const shell = new Shell(
      { ...process.env, EMBEDDING_PROVIDER: 'builtin', ...env, DATA_DIR: this.dataDir },
      { stdin: Readable.from(stdin === '' ? [] : [Buffer.from(stdin)]), stdout, stderr },
    )
    const mask = process.umask(0o077)
    try {
      const code = await runCommand(args, shell)
      await shell.flush()
      return { code, out: stdout.text, err: stderr.text }
    } finally {
      process.umask(mask)
    }
  }

  async spawned(args: string[], options?: RunOptions): Promise<Ran> {
    const child = this.spawn(args, options)
    const [out, err, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ])
    return { code, out, err }
  }

  /** With --json: stdout must be one JSON value on one line and nothing else. */
  async json(args: string[], options?: RunOptions) {
    const ran = await this.run([...args, '--json'], options)
    if (!ran.out.endsWith('\n')) throw new Error(`No answer to ${args.join(' ')}: ${ran.err}`)
    return { ...ran, value: JSON.parse(ran.out) }
  }

  /** Makes the database, as the first start of a service does. */
  async withDatabase(): Promise<this> {
    await asCommand(this.dataDir, async () => undefined)
    return this
  }

  /** Sets up a project, without the cost of a command. */
  async project(name = 'Acme'): Promise<string> {
    const { id } = await asCommand(this.dataDir, ({ projects }) => projects.create(name))
    return id
  }
}

export function fileOf(content: string | Uint8Array, name = 'calls.jsonl'): string {
  const file = join(freshFolder(), name)
  writeFileSync(file, content)
  return file
}

/** As JSON, one call a line. */
export function linesOf(calls: unknown[]): string {
  return calls.map((call) => `${JSON.stringify(call)}\n`).join('')
}

/** Runs a service on the folder, and the command line beside it. */
export async function withService(
  use: (service: TestService, callbook: CommandLine) => Promise<void>,
  dataDir = freshFolder(),
  env: Record<string, string> = {},
): Promise<void> {
  const service = await startService({ dataDir, env: { EMBEDDING_PROVIDER: 'builtin', ...env } })
  await use(service, new CommandLine(dataDir))
  await service.stop()
}
