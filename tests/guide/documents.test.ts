import { beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import type { Command } from 'commander'
import MarkdownIt from 'markdown-it'
import packageJson from '../../package.json' with { type: 'json' }
import { commandLine } from '../../scripts/commands/command-line.ts'
import { Shell } from '../../scripts/commands/shell.ts'
import { loadConfig } from '../../src/config.ts'
import { guidePages } from '../../src/guide/guide-pages.ts'
import { repository } from '../support/process.ts'
import { startService, type TestProject, type TestService } from '../support/service.ts'

// That the README and the guide name only what there is, and all that people set; .env.example: tests/config.test.ts.

const linesMax = 180

interface Document {
  /** From the project's root. */
  path: string
  text: string
  anchors: string[]
  links: string[]
  /** Blocks for a shell, lines that continue joined. */
  commands: string[]
  /** What stands in code: blocks, and spans in the text. */
  code: string[]
}

const documents = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  ...guidePages.map((name) => `src/guide/${name}.md`),
].map(readDocument)

function readDocument(path: string): Document {
  const text = readFileSync(join(repository, path), 'utf8')
  const tokens = new MarkdownIt({ html: true }).parse(text, {})
  const inline = tokens.flatMap(({ children }) => children ?? [])
  const blocks = tokens.filter(({ type }) => type === 'fence')
  return {
    path,
    text,
    anchors: tokens
      .filter((_, at) => tokens[at - 1]?.type === 'heading_open')
      .map(({ children }) => anchorOf((children ?? []).map(({ content }) => content).join(''))),
    links: inline.flatMap((token) => String(token.attrGet('href') ?? token.attrGet('src') ?? '') || []),
    commands: blocks
      .filter(({ info }) => info === 'sh')
      .flatMap(({ content }) => content.replaceAll('\\\n', ' ').split('\n')),
    code: [...blocks, ...inline.filter(({ type }) => type === 'code_inline')].map(({ content }) => content),
  }
}

/** As GitHub makes the anchor of a heading, and the guide as well. */
function anchorOf(title: string): string {
  return title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-')
}

/** What the pattern finds in the code of all documents, as `path: found`. */
function found(pattern: RegExp): { path: string; match: RegExpExecArray }[] {
  return documents.flatMap(({ path, code }) =>
    code.flatMap((one) => [...one.matchAll(pattern)].map((match) => ({ path, match }))),
  )
}

test(`the README has at most ${linesMax} lines`, () => {
  expect(documents[0]?.text.split('\n').length).toBeLessThanOrEqual(linesMax + 1)
})

describe('links', () => {
  test('lead to existing files and headings', () => {
    const broken = documents.flatMap(({ path, links }) =>
      links
        .filter((link) => !/^https?:/.test(link))
        .filter((link) => {
          const [file, anchor] = link.split('#')
          const target = file ? relative('.', join(dirname(path), file)) : path
          if (!existsSync(join(repository, target))) return true
          return anchor !== undefined && !readDocument(target).anchors.includes(anchor)
        })
        .map((link) => `${path}: ${link}`),
    )
    expect(broken).toEqual([])
    expect(documents.flatMap(({ links }) => links).length).toBeGreaterThan(20)
  })

  test('of the guide stay within it, since it is also read without the repository', () => {
    const guide = documents.filter(({ path }) => path.startsWith('src/guide/'))
    for (const { path, links } of guide) {
      const outside = links.filter((link) => !/^https?:|^#|^[a-z-]+\.md(#|$)/.test(link))
      expect([path, outside]).toEqual([path, []])
    }
  })

  test('are unique among the headings of a page', () => {
    for (const { path, anchors } of documents) expect([path, anchors]).toEqual([path, [...new Set(anchors)]])
  })

  test('the README links to every page of the guide', () => {
    const links = documents[0]?.links ?? []
    expect(guidePages.filter((name) => !links.includes(`src/guide/${name}.md`))).toEqual([])
  })
})

describe('commands', () => {
  const program = commandLine(new Shell({}))

  test('of the command line exist, with their arguments and options', () => {
    const lines = documents.flatMap(({ commands }) =>
      commands.filter((line) => line.includes('bun callbook ')),
    )
    expect(lines.length).toBeGreaterThan(20)
    expect(lines.flatMap((line) => faultsOf(program, line, true))).toEqual([])
    const spans = found(/bun callbook [^\n]+/g).map(({ match }) => match[0])
    expect(spans.flatMap((line) => faultsOf(program, line, false))).toEqual([])
  })

  test('that the text names by noun and verb exist', () => {
    const nouns = program.commands.map((command) => command.name()).join('|')
    const named = found(new RegExp(`^(?:${nouns}) [a-z].*$`, 'g')).map(({ match }) => match[0])
    expect(named.length).toBeGreaterThan(5)
    expect(named.flatMap((line) => faultsOf(program, `bun callbook ${line}`, false))).toEqual([])
  })

  test('are all in the guide', () => {
    const guide = documents.find(({ path }) => path.endsWith('command-line.md'))?.commands.join('\n') ?? ''
    const missing = program.commands.flatMap((noun) => {
      const verbs = noun.commands.length > 0 ? noun.commands.map((verb) => ` ${verb.name()}`) : ['']
      return verbs.map((verb) => noun.name() + verb).filter((name) => !guide.includes(`bun callbook ${name}`))
    })
    expect(missing).toEqual([])
  })

  test('that `bun run` runs are scripts of the package', () => {
    const scripts = found(/\bbun run ([a-z:]+)/g).map(({ match }) => match[1] ?? '')
    expect(scripts.length).toBeGreaterThan(5)
    expect(scripts.filter((name) => !Object.hasOwn(packageJson.scripts, name))).toEqual([])
  })
})

/** What is wrong with a line that runs the command line; `isWhole` when its arguments have to be complete. */
function faultsOf(program: Command, line: string, isWhole: boolean): string[] {
  const rest = line.slice(line.indexOf('bun callbook ') + 'bun callbook '.length)
  if (rest.startsWith('<')) return []
  const words = (/^[^|>#)…]*/.exec(rest)?.[0] ?? '').match(/"[^"]*"|\S+/g) ?? []
  let command = program
  for (;;) {
    const next = command.commands.find((one) => one.name() === words[0])
    if (!next) break
    words.shift()
    command = next
  }
  const faults = command.commands.length > 0 ? [`no command in: ${line}`] : []
  let given = 0
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? ''
    if (!word.startsWith('--')) given++
    else {
      const option = command.options.find(({ long }) => long === word)
      if (!option && word !== '--help') faults.push(`${word} in: ${line}`)
      if (option?.required) at++
    }
  }
  const required = command.registeredArguments.filter((argument) => argument.required).length
  const isVariadic = command.registeredArguments.some(({ variadic }) => variadic)
  const most = isVariadic ? words.length : command.registeredArguments.length
  if (given > most || (isWhole && given < required)) faults.push(`arguments of: ${line}`)
  return faults
}

describe('settings', () => {
  const example = Object.fromEntries(
    [...readFileSync(join(repository, '.env.example'), 'utf8').matchAll(/^# ([A-Z_]+)=(.*)$/gm)].map(
      ([, name = '', value = '']) => [name, value],
    ),
  )
  const settings = new Set<string>()
  loadConfig(
    new Proxy<Record<string, string>>({}, { get: (_, name) => void settings.add(String(name)) }),
    false,
  )

  test("are in the guide's table, all of them, with the default of .env.example where that is a number", () => {
    const text = documents.find(({ path }) => path === 'src/guide/settings.md')?.text ?? ''
    const rows = text.split('\n').filter((line) => line.startsWith('| `'))
    for (const name of settings) {
      const row = rows.find((line) => line.split('|')[1]?.includes(`\`${name}\``))
      expect([name, row]).toEqual([name, expect.any(String)])
      const value = example[name] ?? ''
      if (/^\d+$/.test(value)) expect(row?.split('|')[2]).toMatch(new RegExp(`\\b${value}\\b`))
    }
  })

  test('that are named anywhere are ones that the service or somebody else reads', () => {
    const ofOthers =
      /^(CALLBOOK|KEY|INGEST_KEY|SEARCH_KEY|VAPI_KEY|SQLD_\w+|OTEL_\w+|OLLAMA_\w+|LIVEKIT_\w+|ADDON_PORTABLE|SO_REUSEPORT|ERR_DLOPEN_FAILED)$/
    const named = found(/\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b/g)
    expect(named.length).toBeGreaterThan(20)
    const unknown = named.filter(({ match: [name] }) => !settings.has(name) && !ofOthers.test(name))
    expect(unknown.map(({ path, match }) => `${path}: ${match[0]}`)).toEqual([])
  })
})

test('files and tests that are named exist', () => {
  const named = found(/^(?:tests|src|scripts)\/[\w./*-]+$/g)
  expect(named.length).toBeGreaterThan(20)
  const missing = named.filter(({ match: [path] }) => !existsSync(join(repository, path)) && !isAnyLike(path))
  expect(missing.map(({ path, match }) => `${path}: ${match[0]}`)).toEqual([])
})

test('every folder in the overview of CONTRIBUTING.md exists', () => {
  const drawn =
    /\n```\n(src\/main\.ts[\s\S]*?)```/.exec(
      documents.find(({ path }) => path === 'CONTRIBUTING.md')?.text ?? '',
    )?.[1] ?? ''
  const lines = drawn.trimEnd().split('\n')
  expect(lines.length).toBeGreaterThan(8)
  for (const line of lines) {
    const [first = '', ...others] = (line.split(/ {2,}/)[0] ?? '').split(/[ ,]+/)
    for (const path of [first, ...others.map((name) => `src/${name}`)])
      expect([path, existsSync(join(repository, path))]).toEqual([path, true])
  }
})

test.each([
  ['metrics', 'src/observability/*.ts', /\bcallbook_\w+/g],
  ['files beside the database', 'src/db/*.ts', /(?<=callbook\.db)-\w+/g],
])('%s that are named exist in the service', (_, files, pattern) => {
  const source = [...new Bun.Glob(files).scanSync(repository)]
    .map((path) => readFileSync(join(repository, path), 'utf8'))
    .join('')
  const named = found(pattern).map(({ match: [name] }) => name)
  expect(named.length).toBeGreaterThan(0)
  expect(named.filter((name) => !source.includes(name))).toEqual([])
})

function isAnyLike(pattern: string): boolean {
  return pattern.includes('*') && !new Bun.Glob(pattern).scanSync(repository).next().done
}

describe('the interface', () => {
  let service: TestService
  let project: TestProject
  let authorization: string
  beforeAll(async () => {
    service = await startService()
    project = await service.mintProject()
    authorization = `Bearer ${(await project.makeKey({ scope: 'manage' })).key}`
  })

  test('has every path that is named, with the method that is named', async () => {
    const areas = ['/v1', '/ingest', '/console/api', '/integrations']
    const named = found(
      /(?:\b(GET|POST|PUT|PATCH|DELETE) )?(?<![\w.~-])(\/(?:v1|ingest|docs|console|mcp|integrations|health|ready|metrics)\b[\w/:.{}-]*)/g,
    )
    expect(named.length).toBeGreaterThan(20)
    for (const { path: document, match } of named) {
      const [, method, path = ''] = match
      if (areas.includes(path)) continue
      const own = path.startsWith('/ingest') ? {} : { headers: { authorization } }
      const answer = await project.fetch(path, { method: 'OPTIONS', ...own })
      expect([document, path, answer.status]).toEqual([document, path, 405])
      if (method)
        expect([path, answer.headers.get('allow')?.split(', ')]).toEqual([
          path,
          expect.arrayContaining([method]),
        ])
    }
  })
})
