import { execSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pythonPackages } from '../../tests/support/packages.ts'
import { freePort } from '../processes.ts'
import { repository } from '../repository.ts'
import { send } from '../requests.ts'
import { temporaryFolder } from '../temporary.ts'
import { type Row, row } from './figures.ts'
import { runSuite } from './runner.ts'

// A new user's first minutes: a fresh clone with empty caches, the README's commands word for word, and what the guide
// says for each way to send calls. `setup` waits for each call, and ends by itself.

const consoleSecondsMax = 60
const callSecondsMax = 180
const callWithinSeconds = 120
const pollMs = 20
const vapiSdk = '@vapi-ai/server-sdk@2.0.1'

/** Sends what Vapi sends. It does not compile unless the types of Vapi's SDK say the same. */
const vapiProgram = `
import type { Vapi } from '@vapi-ai/server-sdk'
declare const process: { env: Record<'SERVER_URL' | 'SECRET', string> }
const [startedAt, endedAt] = [Date.now() - 60_000, Date.now()].map((time) => new Date(time).toISOString())
const customer = { number: '+15557294053' }
const known = { id: 'call-2', orgId: 'org-1', createdAt: startedAt, updatedAt: endedAt } as const
const call: Vapi.Call = { ...known, type: 'inboundPhoneCall', assistantId: 'front-desk' }
const spoken = { time: Date.now(), endTime: Date.now() }
const messages: Vapi.ArtifactMessagesItem[] = [
  { role: 'user', message: 'Can I move my booking?', secondsFromStart: 2, ...spoken },
  { role: 'bot', message: 'Yes, to which day?', secondsFromStart: 5, ...spoken },
]
const end = { endedReason: 'customer-ended-call', startedAt, endedAt, artifact: { messages }, analysis: {} } as const
const events: Vapi.ServerMessage[] = [
  { message: { type: 'status-update', status: 'in-progress', call, customer } },
  { message: { type: 'end-of-call-report', call, customer, ...end } },
]
for (const event of events) {
  const headers = { authorization: 'Bearer ' + process.env.SECRET, 'content-type': 'application/json' }
  const answer = await fetch(process.env.SERVER_URL, { method: 'POST', headers, body: JSON.stringify(event) })
  if (!answer.ok) throw new Error(await answer.text())
}
`

await runSuite({
  command: 'bench:clone',
  title: 'The first minutes',
  about:
    'a fresh clone, with empty caches of packages, by the commands of the README and the guide, word for word. Commands are ' +
    'those that a person types or pastes. LiveKit and Pipecat run their own exporters, with imitated speech and models; ' +
    'what Vapi sends is written with the types of its SDK.',
  cases: [{ name: 'clone', run: benchClone }],
})

/** A folder where commands are typed, and what they see of the machine. */
interface Terminal {
  folder: string
  env: Record<string, string | undefined>
}

async function benchClone(): Promise<Row[]> {
  const home = temporaryFolder()
  const folder = join(home, 'callbook')
  const env = {
    HOME: process.env.HOME,
    PATH: `${join(home, 'npm/bin')}:${process.env.PATH}`,
    // So that `npm install -g bun` changes nothing here, and nothing comes from a cache.
    npm_config_prefix: join(home, 'npm'),
    npm_config_globalconfig: execSync('npm config get globalconfig', { encoding: 'utf8' }).trim(),
    npm_config_cache: join(home, 'npm-cache'),
    BUN_INSTALL_CACHE_DIR: join(home, 'bun-cache'),
    XDG_CACHE_HOME: join(home, 'cache'),
    PORT: String(await freePort()),
  }
  const clone = { folder, env }
  const began = performance.now()
  const seconds = () => (performance.now() - began) / 1_000
  await run(`git clone --quiet '${repository}' callbook`, { folder: home, env })
  const cloned = seconds()
  const [install = '', start = ''] = blockOf(folder, 'README.md', 'sh').split('\n')
  await run(install, clone)
  const installed = seconds()
  const service = type(start, clone)
  try {
    const [, url = ''] = await service.until(/ Demo +(http\S+)\/console\//)
    if (!(await fetch(`${url}/console`)).ok) throw new Error('The console does not answer')
    const full = seconds()
    const { key } = jsonOf(await run('bun callbook key create --project demo --name look --json', clone))
    const { pagination } = JSON.parse((await send(url, { path: '/v1/calls?limit=1', key })).text)
    const parts = `clone ${cloned.toFixed(1)}, install ${(installed - cloned).toFixed(1)}, start ${(full - installed).toFixed(1)}`
    const shown = `3 commands, ${full.toFixed(1)} s: ${parts}; ${pagination.total} calls`
    const isFull = pagination.total > 0 && full <= consoleSecondsMax
    const ofConsole = row('from the clone to a full console', shown, `≤ ${consoleSecondsMax} s`, isFull)
    return [ofConsole, ...(await firstCalls(clone, full))]
  } finally {
    service.kill()
    await service.ended
  }
}

/** A call by each way. @param full seconds from the clone to a full console */
async function firstCalls(clone: Terminal, full: number): Promise<Row[]> {
  const own = { folder: temporaryFolder(), env: clone.env }
  writeFileSync(join(own.folder, 'call.ts'), blockOf(clone.folder, 'src/guide/own-code.md', 'ts'))
  await makeVapiProgram(own, clone)
  const packages = await pythonPackages()
  const sessions = join(clone.folder, 'tests/sources/otel/python')
  // The examples in these sessions send their calls by `PUT`, too: to nowhere, so that only their spans arrive.
  const nowhere = 'CALLBOOK_URL=http://127.0.0.1:1 CALLBOOK_INGEST_KEY=none CALLBOOK_SEARCH_KEY=none'
  const python = `PYTHONPATH=${packages} EXAMPLES=${clone.folder}/scripts/examples ${nowhere} python3 ${sessions}`
  const ways = { code: 'bun call.ts', vapi: 'bun vapi.ts' }
  const frameworks = {
    livekit: `${python}/livekit_session.py`,
    pipecat: `CALL_ID=call-1 ${python}/pipecat_session.py`,
  }
  const rows: Row[] = []
  for (const [way, agent] of Object.entries({ ...ways, ...(packages && frameworks) })) {
    const call = firstCall(way, agent, clone, { ...own, full })
    rows.push(await call.catch((error) => row(`to a call by ${way}`, error.message, 'a call', false)))
  }
  return rows
}

/** Runs `setup` and, with the lines that it prints, what makes a call. @throws unless `setup` then ends with 0 */
async function firstCall(
  way: string,
  agent: string,
  clone: Terminal,
  { full, ...own }: Terminal & { full: number },
): Promise<Row> {
  const began = performance.now()
  const line = `bun callbook setup --project default --with ${way} --timeout ${callWithinSeconds} --json`
  const setup = type(line, clone)
  await setup.until(/Waiting for a call/)
  const printed = setup
    .printed()
    .replace('Server URL  ', 'export SERVER_URL=')
    .replace('Secret      ', 'export SECRET=')
  const pasted = printed.match(/^export .*/gm) ?? []
  await run([...pasted, agent].join('\n'), own)
  const code = await setup.ended
  if (code !== 0) throw new Error(`setup ended with ${code}: ${setup.printed()}`)
  const { call, missing } = jsonOf(setup.printed())
  const seconds = (performance.now() - began) / 1_000
  const measured = `${(full + seconds).toFixed(1)} s from the clone, ${seconds.toFixed(1)} after the console; ${pasted.length + 2} commands; ${call.turns} turns, missing: ${missing.join(', ') || 'nothing'}`
  return row(`to a call by ${way}`, measured, `≤ ${callSecondsMax} s`, full + seconds <= callSecondsMax)
}

async function makeVapiProgram(own: Terminal, clone: Terminal): Promise<void> {
  writeFileSync(join(own.folder, 'package.json'), '{"type":"module"}')
  writeFileSync(join(own.folder, 'vapi.ts'), vapiProgram)
  await run(`bun add --silent --ignore-scripts ${vapiSdk}`, own)
  const options = '--noEmit --strict --skipLibCheck --target esnext --module nodenext --lib esnext,dom'
  await run(`${clone.folder}/node_modules/.bin/tsc ${options} vapi.ts`, own)
}

/** The first block of code in a language. */
function blockOf(folder: string, file: string, language: string): string {
  const text = readFileSync(join(folder, file), 'utf8')
  return new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 's').exec(text)?.[1] ?? ''
}

/** The JSON in the last line. */
function jsonOf(printed: string) {
  return JSON.parse(printed.trim().split('\n').at(-1) ?? '')
}

/** Types a line in a shell, in a group of processes of its own, so that all of them can be ended. */
function type(line: string, { folder, env }: Terminal) {
  const child = spawn('bash', ['-c', line], { cwd: folder, env, detached: true })
  let printed = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (part) => {
      printed += part
    })
  const ended = once(child, 'close').then(([code]): number => code)
  const kill = () => child.exitCode === null && child.pid !== undefined && process.kill(-child.pid)
  process.prependOnceListener('exit', kill)
  return {
    ended,
    kill,
    printed: () => printed,
    async until(pattern: RegExp): Promise<RegExpExecArray> {
      while (child.exitCode === null) {
        const match = pattern.exec(printed)
        if (match) return match
        await sleep(pollMs)
      }
      throw new Error(`${line} ended with ${child.exitCode}: ${printed.slice(-500)}`)
    },
  }
}

/** @returns what it prints */
async function run(line: string, terminal: Terminal): Promise<string> {
  const program = type(line, terminal)
  const code = await program.ended
  if (code !== 0) throw new Error(`${line} ended with ${code}: ${program.printed().slice(-500)}`)
  return program.printed()
}
