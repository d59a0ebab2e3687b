import type { Command } from 'commander'
import { readJson } from './json-file.ts'
import { type OfProject, projectOption } from './options.ts'
import { shown } from './sentences.ts'
import type { Shell } from './shell.ts'

export function addAlertCommands(program: Command, shell: Shell): void {
  const alert = program
    .command('alert')
    .description('Rules that tell you when a figure of recent calls crosses a limit.')

  withProject(alert.command('create'), 'print the alert')
    .description('Create an alert. The JSON has the members of POST /v1/alerts.')
    .argument('<file>', 'a file of JSON, or - for standard input')
    .action(async (file: string, { project, json }: OfProject) => {
      const rule = readJson(file)
      const made = await shell.inProject(project, ({ alerts }, projectId) => alerts.create(projectId, rule))
      await shell.answer(json, made, `Created the alert ${shown(made.id)}. It is evaluated within a minute.`)
    })

  withProject(alert.command('list'), 'print an array')
    .description('List the alerts and their states.')
    .action(async ({ project, json }: OfProject) => {
      const all = await shell.inProject(project, ({ alerts }, projectId) => alerts.list(projectId))
      const rows = all.map(({ id, name, state, since, value, calls, paused }) => {
        return [id, name, paused ? 'paused' : state, since, String(value ?? ''), String(calls)]
      })
      const head = ['ID', 'NAME', 'STATE', 'SINCE', 'VALUE', 'CALLS']
      await shell.answerList(json, all, { head, rows, none: 'There are no alerts yet.' })
    })

  withProject(alert.command('test'), 'print {"id","queued"}')
    .description('Send an alert and its end to the destinations, marked as a test.')
    .argument('<id>', 'id of the alert (alr_…)')
    .action(async (id: string, { project, json }: OfProject) => {
      const done = await shell.inProject(project, ({ alerts }, projectId) => alerts.test(projectId, id))
      await shell.answer(json, done, `${done.queued} messages are waiting to be sent.`)
    })

  withProject(alert.command('pause'), 'print the alert')
    .description('Stop evaluating an alert, or go on.')
    .argument('<id>', 'id of the alert (alr_…)')
    .option('--resume', 'evaluate it again')
    .action(async (id: string, { project, resume, json }: OfProject & { resume?: true }) => {
      const alert = await shell.inProject(project, ({ alerts }, projectId) =>
        alerts.pause(projectId, id, !resume),
      )
      await shell.answer(json, alert, `${resume ? 'Resumed' : 'Paused'} the alert ${shown(id)}.`)
    })

  withProject(alert.command('remove'), 'print {"id","deleted"}')
    .description('Delete an alert. What waits to be sent of it is not sent.')
    .argument('<id>', 'id of the alert (alr_…)')
    .action(async (id: string, { project, json }: OfProject) => {
      const done = await shell.inProject(project, ({ alerts }, projectId) => alerts.delete(projectId, id))
      await shell.answer(json, done, `Deleted the alert ${shown(id)}.`)
    })
}

function withProject(command: Command, json: string): Command {
  return command.requiredOption(...projectOption).option('--json', json)
}
