import { runCommand } from './commands/command-line.ts'
import { Shell } from './commands/shell.ts'

// The command line: `bun callbook <noun> <verb>`.

process.umask(0o077)
const shell = new Shell(process.env)
const exitCode = await runCommand(process.argv.slice(2), shell)
await shell.flush()
process.exit(exitCode)
