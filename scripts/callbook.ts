import { CommanderError } from 'commander'
import { commandLine } from './commands/command-line.ts'
import { Shell } from './commands/shell.ts'

// The command line: `bun callbook <noun> <verb>`.

process.umask(0o077)
const shell = new Shell(process.env)
const exitCode = await run(process.argv.slice(2), shell)
await shell.flush()
process.exit(exitCode)

async function run(args: string[], shell: Shell): Promise<0 | 1> {
  try {
    await commandLine(shell).parseAsync(args, { from: 'user' })
    return shell.exitCode
  } catch (error) {
    // Commander has printed the error already. Asking for help is not an error.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 1
    shell.explain(error)
    return 1
  }
}
