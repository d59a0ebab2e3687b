import type { Command } from 'commander'
import { readJson } from './json-file.ts'
import { type OfProject, projectOption } from './options.ts'
import type { Shell } from './shell.ts'

export function addRubricCommands(program: Command, shell: Shell): void {
  const rubric = program.command('rubric').description('What a model is asked about each completed call.')

  rubric
    .command('show')
    .description('Print the rubric as JSON, which `rubric set` reads.')
    .argument('[version]', 'a version (default: the one in force)')
    .requiredOption(...projectOption)
    .option('--json', 'print it on one line')
    .action(async (version: string | undefined, { project, json }: OfProject) => {
      const found = await shell.inProject(project, ({ rubrics }, projectId) =>
        rubrics.get(projectId, version === undefined ? undefined : wholeNumber(version)),
      )
      await shell.answer(json, found, JSON.stringify(found, null, 2))
    })

  rubric
    .command('set')
    .description('Add a version: the newest one is in force. The JSON has the members of PUT /v1/rubric.')
    .argument('<file>', 'a file of JSON, or - for standard input')
    .requiredOption(...projectOption)
    .option('--json', 'print the version')
    .action(async (file: string, { project, json }: OfProject) => {
      const change = readJson(file)
      const { rubric, isNew, warning } = await shell.inProject(project, ({ rubrics }, projectId) =>
        rubrics.put(projectId, change),
      )
      const sentence = isNew
        ? `Version ${rubric.version} is in force.`
        : `Nothing differs from version ${rubric.version}.`
      await shell.answer(json, rubric, warning ? `${sentence} Note: ${warning}.` : sentence)
    })

  rubric
    .command('versions')
    .description('List the versions, the newest first.')
    .requiredOption(...projectOption)
    .option('--json', 'print an array')
    .action(async ({ project, json }: OfProject) => {
      const all = await shell.inProject(project, ({ rubrics }, projectId) => rubrics.versions(projectId))
      const rows = all.map(({ version, createdAt, createdBy }) => [
        String(version),
        createdAt,
        createdBy ?? '',
      ])
      const head = ['VERSION', 'CREATED', 'BY']
      await shell.answerList(json, all, { head, rows, none: 'There is no rubric.' })
    })
}

function wholeNumber(text: string): number {
  if (/^[1-9][0-9]{0,8}$/.test(text)) return Number(text)
  throw new Error('The version must be a whole number from 1.')
}
