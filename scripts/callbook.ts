import { Command, CommanderError } from 'commander'
import packageJson from '../package.json' with { type: 'json' }
import { addBackupCommands } from './commands/backup.ts'
import { addCallsCommands } from './commands/calls.ts'
import { addDoctorCommand } from './commands/doctor.ts'
import { addIndexCommands } from './commands/index.ts'
import { addKeyCommands } from './commands/key.ts'
import { addKnowledgeCommands } from './commands/knowledge.ts'
import { addPersonCommands } from './commands/person.ts'
import { addProjectCommands } from './commands/project.ts'
import { Shell } from './commands/shell.ts'

// The command line: `bun callbook <noun> <verb>`.

process.umask(0o077)
const shell = new Shell(process.env)
const exitCode = await run(process.argv.slice(2), shell)
await shell.flush()
process.exit(exitCode)

async function run(args: string[], shell: Shell): Promise<0 | 1> {
  const program = new Command('callbook')
    .description("Callbook's command line. You can use it while the service runs.")
    .version(packageJson.version, '-v, --version')
    .exitOverride()
    .showHelpAfterError('Add --help to see how to use the command.')
  addProjectCommands(program, shell)
  addPersonCommands(program, shell)
  addKeyCommands(program, shell)
  addCallsCommands(program, shell)
  addKnowledgeCommands(program, shell)
  addIndexCommands(program, shell)
  addBackupCommands(program, shell)
  addDoctorCommand(program, shell)
  try {
    await program.parseAsync(args, { from: 'user' })
    return shell.exitCode
  } catch (error) {
    // Commander has printed the error already. Asking for help is not an error.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 1
    shell.explain(error)
    return 1
  }
}
