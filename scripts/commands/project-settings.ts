import type { Command } from 'commander'
import type { ProjectSettings } from '../../src/db/project-settings.ts'
import { invalidRequest } from '../../src/errors.ts'
import type { SettingsChange } from '../../src/projects/schemas.ts'
import { readJson } from './json-file.ts'
import { columns, namingOptions, shown } from './sentences.ts'
import type { Shell } from './shell.ts'

interface SetOptions {
  retainDays?: string
  redact?: string
  country?: string
  keepNumbers?: string
  keepQuestions?: string
  noteReading?: string
  membersDelete?: string
  timeZone?: string
  endSilentAfter?: string
  recordings?: string
  recordingRetainDays?: string
  callerChannel?: string
  prices?: string
  json?: true
}

/** The option that sets each setting. */
const options: Record<string, string> = {
  retainDays: '--retain-days',
  redact: '--redact',
  country: '--country',
  keepNumbers: '--keep-numbers',
  keepQuestionsDays: '--keep-questions',
  notesReading: '--note-reading',
  membersMayDelete: '--members-delete',
  timeZone: '--time-zone',
  endSilentAfter: '--end-silent-after',
  recordings: '--recordings',
  recordingRetainDays: '--recording-retain-days',
  callerChannel: '--caller-channel',
  prices: '--prices',
}

/** `project set` changes how a project keeps personal data. Without options it shows the settings. */
export function addSet(project: Command, shell: Shell): void {
  project
    .command('set')
    .description('Set how a project keeps personal data. Without options, show its settings.')
    .argument('<project>', 'id or name of the project')
    .option('--retain-days <days>', 'delete calls this many days after they were completed, or off')
    .option('--redact <kinds>', 'what to redact before a call is stored: phone,email,card,iban,ssn, or off')
    .option('--country <code>', 'country of numbers without a country code, two letters (ISO 3166-1), or off')
    .option('--keep-numbers <how>', "how much of a call's numbers to store: all, last4 or none")
    .option('--keep-questions <days>', 'how many days to keep what agents ask: 7, 30 or off')
    .option('--note-reading <on|off>', 'record in the audit trail who opens or exports calls')
    .option(
      '--members-delete <on|off>',
      'let members delete calls and knowledge in the console; owners always can',
    )
    .option('--time-zone <zone>', 'such as Europe/Berlin: whose days and times the console shows; or off')
    .option(
      '--end-silent-after <time>',
      'complete a live call when nothing was heard of it for so long, such as 90m, 24h or 7d; or off',
    )
    .option(
      '--recordings <off|keep|mute>',
      'fetch recordings from where platforms keep them; mute silences turns with redactions',
    )
    .option(
      '--recording-retain-days <days>',
      'delete only the recording this many days after the call, or off',
    )
    .option(
      '--caller-channel <0|1>',
      "which channel of recordings is the caller's, or off: what is said tells",
    )
    .option('--prices <file>', 'what models cost, a list in JSON, in place of PRICES_FILE; or off')
    .option('--json', 'print {"id","name","retainDays","redact","country","keepNumbers",…}')
    .action(async (wanted: string, { json, ...values }: SetOptions) => {
      const done = await shell.withServices(async ({ projects, settings }) => {
        const { projectId, id, name } = await projects.find(wanted)
        // What counts as a gap is no matter of personal data: people set it where they see the gaps.
        const { gapCoverage: _, ...now } = await settings.change(projectId, changeOf(values)).catch(toOptions)
        return { id, name, ...now }
      })
      await shell.answer(json, done, [
        `The settings of ${shown(done.name)} (${done.id}):`,
        ...columns(linesOf(done)),
      ])
    })
}

/** The settings in the options. The change itself checks them. */
function changeOf(values: SetOptions): SettingsChange {
  const { retainDays, redact, country, keepNumbers, keepQuestions, noteReading, membersDelete } = values
  const {
    timeZone,
    endSilentAfter,
    recordings,
    recordingRetainDays: recordingDays,
    callerChannel,
    prices,
  } = values
  const change = {
    ...(retainDays !== undefined && { retainDays: numberOf(retainDays) }),
    ...(redact !== undefined && { redact: redact === 'off' ? [] : redact.split(',') }),
    ...(country !== undefined && { country: country === 'off' ? null : country }),
    ...(keepNumbers !== undefined && { keepNumbers }),
    ...(keepQuestions !== undefined && { keepQuestionsDays: numberOf(keepQuestions) }),
    ...(noteReading !== undefined && { notesReading: switchOf('notesReading', noteReading) }),
    ...(membersDelete !== undefined && { membersMayDelete: switchOf('membersMayDelete', membersDelete) }),
    ...(timeZone !== undefined && { timeZone: timeZone === 'off' ? null : timeZone }),
    ...(recordings !== undefined && { recordings }),
    ...(recordingDays !== undefined && { recordingRetainDays: numberOf(recordingDays) }),
    ...(callerChannel !== undefined && { callerChannel: numberOf(callerChannel) }),
    ...(prices !== undefined && { prices: prices === 'off' ? null : readJson(prices) }),
    ...(endSilentAfter !== undefined && { endSilentAfter: endSilentAfter === 'off' ? null : endSilentAfter }),
  }
  return change as SettingsChange
}

function numberOf(text: string): number | string | null {
  if (text === 'off') return null
  return /^\d+$/.test(text) ? Number(text) : text
}

function switchOf(setting: 'notesReading' | 'membersMayDelete', text: string): boolean {
  if (text === 'on' || text === 'off') return text === 'on'
  throw invalidRequest([{ field: options[setting] ?? '', message: 'must be on or off' }])
}

const toOptions = namingOptions(({ field, message }) => ({
  field: field.startsWith('line ') ? `--prices: ${field}` : (options[field.replace(/\.\d+$/, '')] ?? field),
  message: message.replace(', or null', ', or off'),
}))

function linesOf(settings: Omit<ProjectSettings, 'gapCoverage'>): string[][] {
  return Object.entries(options).map(([name, option]) => {
    const value = settings[name as keyof typeof settings]
    if (value === true) return [option, 'on']
    if (name === 'prices' && Array.isArray(value)) return [option, `${value.length} lines`]
    return [option, value === null || value === false ? 'off' : String(value) || 'off']
  })
}
