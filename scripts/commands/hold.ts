import type { Command } from 'commander'
import { type OfProject, projectOption } from './options.ts'
import { shown } from './sentences.ts'
import type { Shell } from './shell.ts'

interface SetOptions extends OfProject {
  call?: string
  number?: string
  reason: string
}

export function addHoldCommands(program: Command, shell: Shell): void {
  const hold = program
    .command('hold')
    .description(
      'Legal holds: a call on hold cannot be deleted, by a person or automatically, until the hold is lifted.',
    )

  hold
    .command('set')
    .description('Put a call on hold, or a number with all of its calls, including later ones.')
    .requiredOption(...projectOption)
    .option('--call <id>', 'id of the call')
    .option('--number <number>', 'the full number, such as +15557294053')
    .requiredOption('--reason <reason>', 'why the hold is set')
    .option('--json', 'print {"id","callId","number","reason","createdAt","createdBy"}')
    .action(async ({ project, call, number, reason, json }: SetOptions) => {
      if ((call === undefined) === (number === undefined))
        throw new Error('Use exactly one of --call and --number.')
      const made = await shell.inProject(project, ({ holds }, projectId) =>
        holds.set(projectId, { callId: call, number, reason }),
      )
      await shell.answer(json, made, `${shown(call ?? number ?? '')} is on hold (${made.id}).`)
    })

  hold
    .command('list')
    .description('List the holds of a project, oldest first.')
    .requiredOption(...projectOption)
    .option('--json', 'print an array')
    .action(async ({ project, json }: OfProject) => {
      const all = await shell.inProject(project, ({ holds }, projectId) => holds.list(projectId))
      const rows = all.map(({ id, callId, number, reason, createdAt }) => {
        const kind = callId === null ? 'number' : 'call'
        return [id, kind, callId ?? number ?? '', createdAt, reason]
      })
      const head = ['ID', 'KIND', 'ON HOLD', 'SINCE', 'REASON']
      await shell.answerList(json, all, { head, rows, none: 'Nothing is on hold.' })
    })

  hold
    .command('lift')
    .description('Lift a hold. Its calls can be deleted again, unless another hold covers them.')
    .argument('<id>', 'id of the hold (hold_…)')
    .requiredOption(...projectOption)
    .option('--json', 'print {"id","lifted"}')
    .action(async (id: string, { project, json }: OfProject) => {
      const done = await shell.inProject(project, ({ holds }, projectId) => holds.lift(projectId, id))
      await shell.answer(json, done, `Lifted the hold ${shown(id)}.`)
    })
}
