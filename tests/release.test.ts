import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { YAML } from 'bun'
import packageJson from '../package.json' with { type: 'json' }
import { platforms } from '../scripts/build-package.ts'
import { repository } from './support/process.ts'

// What a release consists of says one version, and its parts name each other rightly.

const { version, engines } = packageJson
const read = (path: string) => readFileSync(join(repository, path), 'utf8')
const workflow = (name: string) => YAML.parse(read(`.github/workflows/${name}.yaml`)) as Workflow

interface Workflow {
  env: Record<string, string>
  jobs: Record<
    string,
    { needs?: string | string[]; strategy?: { matrix: { include: { platform: string }[] } } }
  >
}

test('the changelog and the chart name the version of the package', () => {
  expect(read('CHANGELOG.md')).toMatch(
    new RegExp(`^## \\[${version.replaceAll('.', '\\.')}\\] - \\d{4}-\\d\\d-\\d\\d$`, 'm'),
  )
  const chart = YAML.parse(read('scripts/deploy/helm/Chart.yaml')) as Record<string, string>
  expect([chart.version, chart.appVersion]).toEqual([version, version])
})

test('a release is built by a version of Bun that the package allows, the one of the image', () => {
  const [, image = ''] = /^ARG BUN_VERSION=(.+)$/m.exec(read('Dockerfile')) ?? []
  const { BUN_VERSION } = workflow('release').env
  expect([BUN_VERSION, Bun.semver.satisfies(image, engines.bun)]).toEqual([image, true])
})

test('machine code is built for each platform of the package, and nothing is published unchecked', () => {
  const { jobs } = workflow('release')
  expect(jobs['machine-code']?.strategy?.matrix.include.map(({ platform }) => platform)).toEqual(platforms)
  const before = (name: string): string[] =>
    [jobs[name]?.needs ?? []].flat().flatMap((needed) => [needed, ...before(needed)])
  for (const name of ['package', 'clients', 'image', 'images', 'release'])
    expect(before(name)).toContain('check')
})

test('the dashboard and the alert rules name metrics that there are', () => {
  const source = [...new Bun.Glob('src/observability/*.ts').scanSync(repository)].map(read).join('')
  for (const file of ['grafana.json', 'prometheus-rules.yaml']) {
    const named = read(`scripts/deploy/${file}`).match(/\b(?:callbook|process)_[a-z_]+/g) ?? []
    expect(named.length).toBeGreaterThan(10)
    const names = new Set(named.map((name) => name.replace(/_(?:bucket|count)$/, '')))
    expect([...names].filter((name) => !source.includes(`'${name}'`))).toEqual([])
  }
})

test('the dashboard and the alert rules ask for rates of counters alone, and a rule watches `problem`', () => {
  for (const file of ['grafana.json', 'prometheus-rules.yaml']) {
    const rated = [...read(`scripts/deploy/${file}`).matchAll(/\b(?:rate|increase)\((\w+)/g)]
    expect(rated.length).toBeGreaterThan(1)
    const gauges = rated.map(([, name = '']) => name).filter((name) => !/_(?:total|count|bucket)$/.test(name))
    expect(gauges).toEqual([])
  }
  expect(read('scripts/deploy/prometheus-rules.yaml')).toContain('expr: callbook_problem > 0')
})
