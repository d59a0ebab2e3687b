import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { repository } from './process.ts'

// Does what a Dockerfile says without Docker, as far as this project's Dockerfile goes: each stage is a folder.

export interface Instruction {
  keyword: string
  flags: Record<string, string>
  /** What follows the flags. */
  text: string
}

export interface Stage {
  /** As after FROM, with its ARGs filled in. */
  image: string
  name: string
  instructions: Instruction[]
}

export function readStages(): Stage[] {
  const lines = readFileSync(join(repository, 'Dockerfile'), 'utf8')
    .replace(/^#.*\n/gm, '')
    .replace(/\\\n/g, ' ')
  const args = new Map<string, string>()
  const stages: Stage[] = []
  for (const line of lines.split('\n').filter((text) => text.trim() !== '')) {
    const instruction = readInstruction(line)
    const { keyword, text } = instruction
    if (keyword === 'ARG') args.set(text.split('=')[0] ?? '', text.split('=')[1] ?? '')
    else if (keyword === 'FROM') {
      const [image = '', name = ''] = text.split(/\s+AS\s+/)
      stages.push({
        image: image.replace(/\$\{(\w+)\}/g, (_, arg) => args.get(arg) ?? ''),
        name,
        instructions: [],
      })
    } else stages.at(-1)?.instructions.push(instruction)
  }
  return stages
}

function readInstruction(line: string): Instruction {
  const [, keyword = '', written = '', text = ''] = /^(\w+)\s+((?:--\S+\s+)*)(.*)$/.exec(line) ?? []
  const flags = [...written.matchAll(/--([\w-]+)(?:=(\S+))?/g)].map(([, name = '', value = '']) => [
    name,
    value,
  ])
  return { keyword, flags: Object.fromEntries(flags), text }
}

/** Everything in a stage under that keyword, in order. */
export function textsOf({ instructions }: Stage, keyword: string): string[] {
  return instructions.filter((instruction) => instruction.keyword === keyword).map(({ text }) => text)
}

export function environmentOf(stage: Stage): Record<string, string> {
  const pairs = textsOf(stage, 'ENV').flatMap((text) => text.split(/\s+/))
  return Object.fromEntries(pairs.map((pair) => pair.split('=') as [string, string]))
}

/** Makes every stage under `folder` and gives the last one's working directory. @throws when a line fails. */
export function play(stages: Stage[], folder: string): string {
  let workdir = ''
  for (const [index, stage] of stages.entries()) {
    const root = join(folder, stage.name || String(index))
    workdir = root
    for (const { keyword, flags, text } of stage.instructions) {
      if (keyword === 'WORKDIR') workdir = join(root, text)
      mkdirSync(workdir, { recursive: true })
      if (keyword === 'COPY') copy({ text, workdir, from: flags.from ? join(folder, flags.from) : null })
      // What needs root, and is there already on a machine that runs the tests.
      if (keyword === 'RUN' && !/^(apt-get|install) /.test(text)) run(text, workdir)
    }
  }
  return workdir
}

/** @param from the root of another stage; null for what `.dockerignore` leaves of the repository */
function copy({ text, workdir, from }: { text: string; workdir: string; from: string | null }): void {
  const paths = text.split(/\s+/)
  const target = resolve(workdir, paths.at(-1) ?? '')
  for (const path of paths.slice(0, -1)) {
    const source = join(from ?? repository, path)
    if (from !== null) run(`cp -a --link ${source}/. ${target}`, workdir)
    else if (isIgnored(path) || !existsSync(source)) throw new Error(`COPY does not find ${path}`)
    else if (statSync(source).isDirectory()) copyFolder(path, target)
    else cpSync(source, join(target, path))
  }
}

function copyFolder(path: string, target: string): void {
  const files = readdirSync(join(repository, path), { recursive: true, withFileTypes: true })
  for (const file of files.filter((entry) => entry.isFile())) {
    const source = join(file.parentPath, file.name)
    if (isIgnored(source.slice(repository.length + 1))) continue
    const copied = join(target, source.slice(join(repository, path).length))
    mkdirSync(dirname(copied), { recursive: true })
    cpSync(source, copied)
  }
}

/** By `.dockerignore`, whose last line that matches decides. https://docs.docker.com/build/concepts/context */
export function isIgnored(path: string): boolean {
  const lines = readFileSync(join(repository, '.dockerignore'), 'utf8').split('\n')
  let ignored = false
  for (const line of lines.filter((text) => text !== '' && !text.startsWith('#'))) {
    const pattern = line.replace(/^!/, '')
    if (pattern !== '*' && pattern.includes('*')) throw new Error(`${line} is not understood here`)
    if (pattern === '*' || path === pattern || path.startsWith(`${pattern}/`)) ignored = !line.startsWith('!')
  }
  return ignored
}

function run(command: string, cwd: string): void {
  const { status, stdout, stderr } = spawnSync('sh', ['-c', command], { cwd, encoding: 'utf8' })
  if (status !== 0) throw new Error(`RUN ${command} failed:\n${stdout}${stderr}`)
}
