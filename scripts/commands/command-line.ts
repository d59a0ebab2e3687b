import { Command, CommanderError } from 'commander'
import { version } from '../../src/version.ts'
import { addAlertCommands } from './alert.ts'
import { addBackupCommands } from './backup.ts'
import { addCallsCommands } from './calls.ts'
import { addCaseCommands } from './case.ts'
import { addCheckCommand } from './check.ts'
import { addCompareCommand } from './compare.ts'
import { addDemoCommand } from './demo.ts'
import { addDoctorCommand } from './doctor.ts'
import { addEraseCommand } from './erase.ts'
import { addHoldCommands } from './hold.ts'
import { addIndexCommands } from './index.ts'
import { addKeyCommands } from './key.ts'
import { addKnowledgeCommands } from './knowledge.ts'
import { addPersonCommands } from './person.ts'
import { addPricesCommands } from './prices.ts'
import { addProjectCommands } from './project.ts'
import { addRecordingCommands } from './recording.ts'
import { addRubricCommands } from './rubric.ts'
import { addSetupCommand } from './setup.ts'
import type { Shell } from './shell.ts'
import { addSourceCommands } from './source.ts'
import { addWebhookCommands } from './webhook.ts'

/** Runs one command. @returns its exit code */
export async function runCommand(args: string[], shell: Shell): Promise<0 | 1> {
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

/** All commands. */
export function commandLine(shell: Shell): Command {
  const program = new Command('callbook')
    .description(
      "Callbook's command line. You can use it while the service runs. None of these commands starts the service: `bun start` does, or the executable or the package without a command.",
    )
    .version(version, '-v, --version')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => shell.streams.stdout.write(text),
      writeErr: (text) => shell.streams.stderr.write(text),
    })
    .showHelpAfterError('Add --help to see how to use the command.')
  addProjectCommands(program, shell)
  addPersonCommands(program, shell)
  addKeyCommands(program, shell)
  addSourceCommands(program, shell)
  addCallsCommands(program, shell)
  addCompareCommand(program, shell)
  addEraseCommand(program, shell)
  addHoldCommands(program, shell)
  addRecordingCommands(program, shell)
  addRubricCommands(program, shell)
  addPricesCommands(program, shell)
  addAlertCommands(program, shell)
  addCaseCommands(program, shell)
  addCheckCommand(program, shell)
  addKnowledgeCommands(program, shell)
  addIndexCommands(program, shell)
  addWebhookCommands(program, shell)
  addBackupCommands(program, shell)
  addDemoCommand(program, shell)
  addDoctorCommand(program, shell)
  addSetupCommand(program, shell)
  return program
}
