import { expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { guidePages } from '../src/guide/guide-pages.ts'
import { repository, spawnService } from './support/process.ts'

const service = await spawnService()

test.each(['first', 'second'])(
  "the README's tour and the guide's examples for agents run unchanged a %s time, and answer what they say",
  async () => {
    const key = /API key +(\S+)/.exec(service.banner)?.[1] ?? ''
    const script = tour().replace('http://127.0.0.1:3000', service.url).replace('ck_live_...', key)
    expect(script.match(/\bcurl\b/g)?.length).toBeGreaterThanOrEqual(10)

    const run = Bun.spawn(['bash', '-euxo', 'pipefail', '-c', script], {
      cwd: repository,
      // A person reads what is wrong; here it has to end the script.
      env: { ...process.env, DATA_DIR: service.dataDir, CURL_HOME: curlHome() },
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const [stdout, stderr, code] = await Promise.all([
      new Response(run.stdout).text(),
      new Response(run.stderr).text(),
      run.exited,
    ])
    expect(code, stderr).toBe(0)
    expect(stdout).toContain('"summary":"Moved the booking to Friday."')
    expect(stdout).toContain(
      '"pagination":{"total":1,"totalIsCapped":false,"limit":10,"offset":0,"next":null}',
    )
    expect(stdout).toContain('Callbook-Index: ready')
    expect(stdout).toContain('"heading":"Refunds"')
    expect(stdout).not.toContain('No passage covers this question well')
    for (const answer of ['"structuredContent":', '"documents":[{', '"toolCallId":"abc123"', '"records":[{'])
      expect(stdout).toContain(answer)
    expect(stdout.match(/"deleted":true/g)).toHaveLength(2)
  },
)

test("the README's list of the guide's pages is complete", () => {
  const section =
    /\n## The guide\n([\s\S]*)/.exec(readFileSync(join(repository, 'README.md'), 'utf8'))?.[1] ?? ''
  const listed = [...section.matchAll(/\(src\/guide\/([a-z-]+)\.md\)/g)].map(([, page = '']) => page)
  expect(listed.toSorted()).toEqual([...guidePages].toSorted())
})

test('no page tells to run what nobody has published', () => {
  const pages = [
    'README.md',
    ...new Bun.Glob('{src/guide/*.md,scripts/clients/*/README.md,src/console/ui/**/*.tsx}').scanSync(
      repository,
    ),
  ]
  const named = pages.filter((page) =>
    /bunx callbook|(?:npm|bun|pip) (?:install|add) callbook|npmjs\.com\/package\/callbook|docker (?:run|pull) [^\n]*ghcr/.test(
      readFileSync(join(repository, page), 'utf8'),
    ),
  )
  expect(named).toEqual([])
})

/** A folder whose settings make curl fail, and say so, when it is answered with an error. */
function curlHome(): string {
  writeFileSync(join(service.dataDir, '.curlrc'), 'fail-with-body\nsilent\nshow-error\n')
  return service.dataDir
}

/** The shell blocks of the README's section "A tour", with the guide's for agents before what deletes again. */
function tour(): string {
  const readme = readFileSync(join(repository, 'README.md'), 'utf8')
  const agents = readFileSync(join(repository, 'src/guide/agents.md'), 'utf8')
  const section = /\n## A tour\n([\s\S]*?)\n## /.exec(readme)?.[1] ?? ''
  const blocks = shellBlocks(section)
  const ofAgents = shellBlocks(agents).filter((block) => block.includes('$CALLBOOK'))
  return [...blocks.slice(0, -1), ...ofAgents, ...blocks.slice(-1)].join('\n')
}

function shellBlocks(markdown: string): string[] {
  return [...markdown.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block]) => block ?? '')
}
