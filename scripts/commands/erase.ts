import { setTimeout as sleep } from 'node:timers/promises'
import type { Command } from 'commander'
import { AppError } from '../../src/errors.ts'
import type { ErasureReceipt } from '../../src/privacy/schemas.ts'
import type { Services } from '../../src/services/services.ts'
import { type OfProject, projectOption } from './options.ts'
import { startProgress } from './progress.ts'
import { counted, fieldSentences } from './sentences.ts'
import type { Shell } from './shell.ts'

const pollMs = 200

interface EraseOptions extends OfProject {
  number?: string
  before?: string
  dryRun?: true
}

export function addEraseCommand(program: Command, shell: Shell): void {
  program
    .command('erase')
    .description(
      'Erase the calls of a phone number, or completed calls from before a time, and wait until no byte of ' +
        'them is left. Later calls are not affected. Calls on hold stay.',
    )
    .requiredOption(...projectOption)
    .option('--number <number>', 'the full number, such as +15557294053: erases calls from it and to it')
    .option('--before <time>', 'ISO 8601 time: erases completed calls that were created before it')
    .option('--dry-run', 'only count the calls')
    .option('--json', 'print {"id","calls","deleted","onHold","doneAt"}, or {"calls","onHold"} of a dry run')
    .action(async ({ project, number, before, dryRun, json }: EraseOptions) => {
      await shell.inProject(
        project,
        async (services, projectId) => {
          const asked = { number, before, dryRun }
          const answer = await services.erasureRequests
            .request(projectId, asked)
            .catch((error) => Promise.reject(namingOptions(error)))
          const { calls, onHold = 0 } = answer
          const held = onHold > 0 ? ` ${counted(onHold, 'call')} on hold will stay.` : ''
          if (!('id' in answer))
            return await shell.answer(
              json,
              { calls, onHold },
              `${counted(calls, 'call')} would be erased.${held}`,
            )
          const done = await untilDone(services, shell, projectId, answer)
          const { id, deleted = 0, doneAt } = done
          const kept = done.onHold ? ` ${counted(done.onHold, 'call')} on hold stayed.` : ''
          await shell.answer(
            json,
            { id, calls, deleted, onHold: done.onHold ?? 0, doneAt },
            `Erased ${counted(deleted, 'call')} (${id}). The last byte was gone at ${doneAt}.${kept}`,
          )
        },
        { takesFolder: true },
      )
    })
}

/** Waits until the owner of the folder has deleted the calls: this command, or the service that runs on it. */
async function untilDone(
  services: Services,
  shell: Shell,
  projectId: number,
  { id, calls }: { id: string; calls: number },
): Promise<ErasureReceipt> {
  const progress = startProgress(shell, 'Erasing', calls)
  let failure: unknown = null
  if (services.ownsFolder) services.erasureRequests.finish().catch((error) => (failure = error))
  try {
    for (;;) {
      if (shell.signal.aborted)
        throw new Error(
          `Interrupted. The service continues with ${id}. GET /v1/erasures/${id} says when it is done.`,
        )
      if (failure) throw failure
      const receipt = await services.erasureReceipts.get(projectId, id)
      if (receipt.status === 'done') return receipt
      progress.update(receipt.deleted ?? 0, counted(receipt.deleted ?? 0, 'call'))
      await sleep(pollMs)
    }
  } finally {
    progress.stop()
  }
}

/** The same error with the command's options as field names. */
function namingOptions(error: unknown): unknown {
  if (!(error instanceof AppError) || !error.errors) return error
  const named = error.errors.map(({ field, message }) =>
    field === 'body'
      ? { field, message: 'Use exactly one of --number and --before.' }
      : { field: `--${field}`, message },
  )
  return new Error(fieldSentences(named))
}
