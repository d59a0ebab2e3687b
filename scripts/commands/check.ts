import { readFileSync, writeFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { Type } from '@sinclair/typebox'
import { type Command, InvalidArgumentError } from 'commander'
import { ModelUnavailable, RequestRefused } from '../../src/analysis/chat-failures.ts'
import { Case } from '../../src/cases/schemas.ts'
import { compileCheck, jsonOf } from '../../src/validation.ts'
import type { CaseRun, CheckedCase } from './case-runs.ts'
import { readJson } from './json-file.ts'
import type { AsJson } from './options.ts'
import { counted, sentenceOf, shown } from './sentences.ts'
import type { Shell } from './shell.ts'

interface CheckOptions extends AsJson {
  agent?: string
  model: string
  tokenEnv?: string
  system?: string
  tools?: string
  times: number
  min: number
  junit?: string
  labels?: true
}

/** A line that could not be checked. */
interface LineError {
  line: number
  id: string | null
  message: string
}

interface Line {
  line: number
  of: CheckedCase
}

const { id, messages, mocks, expect, name, said } = Case.properties
const checkCase = compileCheck(
  Type.Object({
    id,
    messages: Type.Array(messages.items, { minItems: 1 }),
    expect,
    name: Type.Optional(name),
    mocks: Type.Optional(mocks),
    said: Type.Optional(said),
    label: Type.Optional(Type.Unsafe<'pass' | 'fail'>({ type: 'string', enum: ['pass', 'fail'] })),
  }),
)

export function addCheckCommand(program: Command, shell: Shell): void {
  program
    .command('check')
    .description(
      'Ask an agent for the next turn of each case, and have ANALYSIS_MODEL judge it. Needs no database. It tests the next turn, not the voice.',
    )
    .argument('<file>', 'cases as `case export --format jsonl` writes them; - reads stdin')
    .option('--agent <url>', 'an endpoint of the OpenAI chat API')
    .option('--model <model>', 'its model', 'default')
    .option('--token-env <name>', 'the environment variable that has its token')
    .option('--system <file>', "the agent's prompt")
    .option('--tools <file>', "a JSON list of the agent's tools, as in the OpenAI chat API")
    .option('--times <times>', 'how often each case is asked', within(1, 50, true), 5)
    .option('--min <share>', 'the share of answers that must pass', within(0, 1), 0.9)
    .option('--junit <file>', 'also write the results there, as JUnit does')
    .option('--labels', 'judge what each line has as `said` instead, and compare with its `label`')
    .option('--json', 'print the result as JSON')
    .action(async (file: string, options: CheckOptions) => {
      const source = file === '-' ? await text(shell.streams.stdin) : readFileSync(file, 'utf8')
      const { analysis } = shell.loadConfig()
      if (!analysis) throw new Error('ANALYSIS_MODEL must be set: it is the model that judges.')
      // Loaded only now: the client of model servers is large.
      const { Judge } = await import('./case-runs.ts')
      const judge = new Judge(analysis)
      const read = readLines(source)
      if (options.labels) await checkLabels(shell, judge, read, options)
      else await checkAgent(shell, judge, read, options)
    })
}

type Judge = InstanceType<typeof import('./case-runs.ts')['Judge']>
type Lines = ReturnType<typeof readLines>

async function checkAgent(
  shell: Shell,
  judge: Judge,
  { lines, errors }: Lines,
  options: CheckOptions,
): Promise<void> {
  const { agent: url, model, tokenEnv, system, tools: toolsFile, times, min, junit, json } = options
  if (url === undefined) throw new Error('Say with --agent which agent is tested, or use --labels.')
  const tools = toolsFile === undefined ? undefined : readJson(toolsFile)
  if (tools !== undefined && !Array.isArray(tools))
    throw new Error(`${shown(String(toolsFile))} must be a JSON list.`)
  const token = tokenEnv === undefined ? null : (shell.env(tokenEnv) ?? null)
  if (tokenEnv !== undefined && token === null) throw new Error(`${shown(tokenEnv)} is not set.`)
  const { TestedAgent, createRuns } = await import('./case-runs.ts')
  const prompt = system === undefined ? undefined : readFileSync(system, 'utf8')
  const agent = new TestedAgent({ url, model, token, system: prompt, tools })
  const run = createRuns(async (of, signal) => judge.verdict(of, await agent.answer(of, signal), signal))
  const done = await each(lines, errors, shell, (of) => run(of, { times, min, signal: shell.signal }))
  const count = (wanted: CaseRun['result']) => done.filter(({ result }) => result === wanted).length
  const [passed, failed, notJudged] = [count('passed'), count('failed'), count('notJudged')]
  const results = done.map(({ result, ...others }) => others)
  const summary = { cases: lines.length, passed, failed, notJudged, errors, tokens: judge.tokens, results }
  if (junit !== undefined) writeFileSync(junit, junitOf(done, errors))
  if (passed < lines.length || errors.length > 0 || lines.length === 0) shell.exitCode = 1
  const texts = [
    ...done.flatMap(caseLines),
    ...errors.map(({ line, message }) => `Line ${line}: ${shown(message)}`),
    `${counted(lines.length, 'case')}: ${passed} passed, ${failed} failed, ${notJudged} not judged, ${counted(errors.length, 'error')}. Next turns only, not the voice.`,
  ]
  await shell.answer(json, summary, texts)
}

/** What the judge is worth on answers that people have labelled. */
async function checkLabels(
  shell: Shell,
  judge: Judge,
  { lines, errors }: Lines,
  { json }: CheckOptions,
): Promise<void> {
  const labelled = lines.filter(({ of }) => of.label !== undefined && of.said !== undefined)
  if (labelled.length === 0)
    throw new Error('No line has a label, "pass" or "fail", of what it has as `said`.')
  const { createRuns } = await import('./case-runs.ts')
  const run = createRuns((of, signal) => judge.verdict(of, { tools: [], said: of.said ?? '' }, signal))
  const once = { times: 1, min: 0, signal: shell.signal }
  const done = await each(labelled, errors, shell, async (of) => {
    const { passes, fails } = await run(of, once)
    return { label: of.label, verdict: passes > 0 ? 'pass' : fails > 0 ? 'fail' : 'unknown' }
  })
  const { Comparison } = await import('../../src/analysis/agreement.ts')
  const comparison = new Comparison('fail', 'pass')
  for (const { id, label, verdict } of done) comparison.add(id, label, verdict)
  const failing = (of: 'label' | 'verdict') => done.filter((each) => each[of] === 'fail').length
  const both = done.filter(({ label, verdict }) => label === 'fail' && verdict === 'fail').length
  const all = failing('label') + failing('verdict')
  // Of `fail`, which a test is made to find: https://en.wikipedia.org/wiki/F-score. An unknown verdict finds nothing.
  const f1 = all === 0 ? null : (2 * both) / all
  const { kappa } = comparison.figures()
  const unknown = done.filter(({ verdict }) => verdict === 'unknown').length
  const summary = {
    model: judge.model,
    labels: labelled.length,
    f1,
    kappa,
    unknown,
    errors,
    tokens: judge.tokens,
    results: done,
  }
  if (errors.length > 0) shell.exitCode = 1
  const { prompt, completion } = judge.tokens
  const wrong = done.filter(({ label, verdict }) => label !== verdict)
  await shell.answer(json, summary, [
    ...wrong.map(({ id, label, verdict }) => `${shown(id)}: labelled ${label}, judged ${verdict}`),
    ...errors.map(({ line, message }) => `Line ${line}: ${shown(message)}`),
    `${shown(judge.model)}: F1 ${shownShare(f1)}, kappa ${shownShare(kappa)}, ${unknown} of ${labelled.length} unknown, ${prompt} + ${completion} tokens.`,
  ])
}

function shownShare(share: number | null): string {
  return share === null ? 'not known' : share.toFixed(2)
}

/** Does the work for all lines at once, in their order. What fails is added to the errors. */
async function each<Done>(
  lines: readonly Line[],
  errors: LineError[],
  shell: Shell,
  work: (of: CheckedCase) => Promise<Done>,
) {
  const done = await Promise.all(
    lines.map(async ({ line, of }) => {
      try {
        return { id: of.id, name: of.name ?? of.expect, ...(await work(of)) }
      } catch (error) {
        shell.signal.throwIfAborted()
        const isOfServer = error instanceof ModelUnavailable || error instanceof RequestRefused
        errors.push({ line, id: of.id, message: isOfServer ? error.message : sentenceOf(error) })
        return null
      }
    }),
  )
  errors.sort((a, b) => a.line - b.line)
  return done.filter((result) => result !== null)
}

function readLines(source: string): { lines: Line[]; errors: LineError[] } {
  const [lines, errors]: [Line[], LineError[]] = [[], []]
  for (const [at, json] of source
    .replace(/^\ufeff/, '')
    .split('\n')
    .entries()) {
    if (json.trim() === '') continue
    const line = at + 1
    try {
      const value = jsonOf(json)
      if (value === undefined) throw new Error('It is not JSON.')
      lines.push({ line, of: checkCase(value) })
    } catch (error) {
      errors.push({ line, id: null, message: sentenceOf(error) })
    }
  }
  return { lines, errors }
}

type Named = CaseRun & { id: string; name: string }

const marks = { passed: '✓', failed: '✗', notJudged: '?' }

function caseLines({ id, name, result, passes, fails, unknown, said, quote }: Named): string[] {
  const totals = `${passes} of ${passes + fails} passed${unknown > 0 ? `, ${unknown} unknown` : ''}`
  const answer = result === 'passed' ? [] : [`    said: ${shown(said)}`, `    quoted: ${shown(quote)}`]
  return [`${marks[result]} ${shown(name)} (${shown(id)}): ${totals}`, ...answer]
}

/** As tools of continuous integration read it: https://github.com/testmoapp/junitxml */
function junitOf(done: readonly Named[], errors: readonly LineError[]): string {
  const testCase = (id: string, name: string, inner = '') =>
    `  <testcase classname="callbook" name="${inXml(`${name} (${id})`)}">${inner}</testcase>`
  const texts = { passed: () => '', failed: failure('failure'), notJudged: failure('error') }
  const count = (...results: Named['result'][]) =>
    done.filter(({ result }) => results.includes(result)).length
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuite name="callbook" tests="${done.length + errors.length}" failures="${count('failed')}" errors="${count('notJudged') + errors.length}">`,
    ...done.map((each) => testCase(each.id, each.name, texts[each.result](each))),
    ...errors.map(({ line, id, message }) =>
      testCase(id ?? 'no case', `line ${line}`, `<error message="${inXml(message)}"/>`),
    ),
    '</testsuite>',
    '',
  ].join('\n')
}

function failure(tag: 'failure' | 'error') {
  return ({ passes, fails, unknown, said, quote }: Named) =>
    `<${tag} message="${passes} passed, ${fails} failed, ${unknown} unknown">${inXml(`said: ${said}\nquoted: ${quote}`)}</${tag}>`
}

/** XML 1.0 has no control characters: https://www.w3.org/TR/xml/#charsets */
function inXml(text: string): string {
  return text
    .replace(/[^\t\n\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '\ufffd')
    .replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`)
}

function within(least: number, most: number, isWhole = false) {
  return (text: string) => {
    const value = Number(text)
    const fits =
      /^[0-9.]+$/.test(text) && value >= least && value <= most && (!isWhole || Number.isInteger(value))
    if (fits) return value
    throw new InvalidArgumentError(`It must be a ${isWhole ? 'whole ' : ''}number from ${least} to ${most}.`)
  }
}
