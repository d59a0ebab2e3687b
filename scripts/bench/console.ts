import Database from 'libsql'
import { setupHashName } from '../../src/console/people/set-up.ts'
import { createLinkToken, hashToken } from '../../src/console/people/token.ts'
import { buildConsole } from '../build-console.ts'
import { benchConsolePage } from './console-page.ts'
import { copyDataset, type Dataset } from './dataset.ts'
import { callsDataset } from './datasets.ts'
import type { Running } from './processes.ts'
import { createRandom } from './random.ts'
import type { Options } from './runner.ts'
import type { Row } from './table.ts'
import type { Texts } from './texts.ts'

const p95MsMax = 100
const queriesCount = 300
const repeats = 30
const period = 'from=2025-01-01T00:00:00Z&to=2026-01-01T00:00:00Z'

/** Latency of the console's requests in a project of 100,000 calls, one request at a time. */
export async function benchConsole(texts: Texts, { start }: Options): Promise<Row[]> {
  await buildConsole()
  const dataset = copyDataset(await callsDataset(texts))
  const token = renewSetupLink(dataset)
  const service = await start(dataset)
  const browser = await setUp(service, token)
  const times = (paths: string[]) => browser.timesOf(paths)
  const again = (path: string) => Array.from({ length: repeats }, () => path)
  await times(again('/calls'))
  const finds = searchTexts(texts).map((text) => `/calls?text=${encodeURIComponent(text)}`)
  return [
    row('console: the first page of 100,000 calls', await times(again('/calls'))),
    row('  calls by evaluation and a phone number', await times(again('/calls?evaluation=fail&number=4053'))),
    row(`  calls by text, ${queriesCount} of common and rare words`, await times(finds)),
    row('  calls by duration', await times(again('/calls?order=-duration'))),
    row('  failed calls by duration', await times(again('/calls?order=-duration&evaluation=fail'))),
    row('  what can be filtered by', await times(again('/call-facets'))),
    row('  overview: figures', await times(again(`/overview/figures?before=2024-01-01T00:00:00Z&${period}`))),
    row('  overview: days', await times(again(`/overview/days?${period}`))),
    row('  overview: durations', await times(again(`/overview/durations?${period}`))),
    row('  overview: end reasons', await times(again(`/overview/end-reasons?${period}`))),
    ...(await benchConsolePage({ url: service.url, ...browser })),
  ]
}

function row(what: string, times: number[]): Row {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.ceil(sorted.length * share) - 1] ?? Number.NaN
  return {
    what,
    measured: `p50 ${at(0.5).toFixed(1)}, p95 ${at(0.95).toFixed(1)}, max ${at(1).toFixed(1)} ms of ${times.length}`,
    target: `p95 ≤ ${p95MsMax} ms`,
    isMet: at(0.95) <= p95MsMax,
  }
}

/** Words and short phrases of the dialogues, half of them cut off as if still being typed. */
function searchTexts({ dialogues }: Texts): string[] {
  const random = createRandom(7)
  const pick = <Value>(values: readonly Value[]) => values[Math.floor(random() * values.length)]
  return Array.from({ length: queriesCount }, (_, n) => {
    const words = pick(pick(dialogues)?.transcript ?? [])?.content.match(/\p{L}+/gu) ?? ['nothing']
    const start = Math.floor(random() * words.length)
    const text = words.slice(start, start + 1 + (n % 3)).join(' ')
    return n % 2 === 0 ? text : text.slice(0, Math.max(2, Math.ceil(text.length * random())))
  })
}

/** Makes a new set-up link, since the one that the first start printed is not known here. */
function renewSetupLink({ databaseFile }: Dataset): string {
  const token = createLinkToken()
  const db = new Database(databaseFile)
  db.prepare('insert or replace into meta (name, value) values (?, ?)').run(setupHashName, hashToken(token))
  db.close()
  return token
}

/** Signs in a new owner of the console, whose requests concern the only project. */
async function setUp({ url }: Running, token: string) {
  const person = { name: 'Bench', email: 'bench@example.com', password: 'bench bench bench' }
  const answer = await fetch(`${url}/console/api/links/setup`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: url },
    body: JSON.stringify({ token, ...person }),
  })
  if (!answer.ok) throw new Error(`The console was not set up: ${await answer.text()}`)
  const cookie = answer.headers
    .getSetCookie()
    .map((text) => text.split(';')[0])
    .join('; ')
  const { projects }: { projects: { id: string }[] } = await answer.json()
  const id = projects[0]?.id
  const project = `${url}/console/api/projects/${id}`
  return {
    cookie,
    callsPage: `${url}/console/p/${id}/calls`,
    /** Milliseconds until each answer was complete. */
    async timesOf(paths: string[]): Promise<number[]> {
      const times: number[] = []
      for (const path of paths) {
        const startedAt = performance.now()
        const response = await fetch(project + path, { headers: { cookie } })
        const text = await response.text()
        if (!response.ok) throw new Error(`${path}: ${text}`)
        times.push(performance.now() - startedAt)
      }
      return times
    },
  }
}
