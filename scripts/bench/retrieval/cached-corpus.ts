import { createHash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { cacheFolder } from '../dataset.ts'
import { startService } from '../processes.ts'
import { addItems, checkoutOf, createProject, type Project } from '../project.ts'
import { temporaryFolder } from '../temporary.ts'
import type { Document, Texts } from '../texts.ts'
import { corpusOf } from './corpus.ts'

const chunksDefault = 50_000
const manifestName = 'bench.json'
/** Increase it when the items change. A digest covers the code that indexes them. */
const version = 2
/** The code that decides which rows, vectors and index files an item becomes. */
const makesRows = [
  'src/db/migrations',
  'src/db/word-segments.ts',
  'src/knowledge/chunking',
  'src/knowledge/embedding/builtin.ts',
  'src/knowledge/indexing/index/files.ts',
  'src/knowledge/indexing/index/graph.ts',
  'src/knowledge/knowledge.ts',
  'src/text',
]

/** An indexed corpus, made by the service under test or by an earlier run of the same code. */
export async function cachedCorpus(
  texts: Texts,
  main: string,
  chunksCount = chunksDefault,
): Promise<Project> {
  const folder = join(cacheFolder, `retrieval-${chunksCount}-${texts.kind}-v${version}-${digestOf(main)}`)
  if (!existsSync(join(folder, manifestName))) await build(folder, corpusOf(texts, chunksCount), main)
  return readProject(folder)
}

/** A copy that a case may change. It is removed after the case. */
export function copyProject(project: Project): Project {
  const folder = temporaryFolder()
  cpSync(project.folder, folder, { recursive: true })
  return readProject(folder)
}

async function build(folder: string, items: Iterable<Document>, main: string): Promise<void> {
  process.stderr.write(`Building ${folder} …\n`)
  const project = await createProject(main)
  const service = await startService(main, project)
  try {
    await addItems(service, project, [...items])
  } finally {
    await service.stop()
  }
  const { key, ingestKey } = project
  writeFileSync(join(project.folder, manifestName), JSON.stringify({ key, ingestKey }), { mode: 0o600 })
  mkdirSync(cacheFolder, { recursive: true, mode: 0o700 })
  renameSync(project.folder, folder)
}

function readProject(folder: string): Project {
  const keys: Pick<Project, 'key' | 'ingestKey'> = JSON.parse(
    readFileSync(join(folder, manifestName), 'utf8'),
  )
  return { ...keys, folder, databaseFile: join(folder, 'callbook.db') }
}

function digestOf(main: string): string {
  const hash = createHash('sha256')
  for (const path of makesRows.map((each) => join(checkoutOf(main), each))) {
    if (!existsSync(path)) continue
    const names = statSync(path).isDirectory()
      ? readdirSync(path, { recursive: true }).map(String).sort()
      : ['']
    for (const file of names.map((name) => join(path, name)))
      if (statSync(file).isFile()) hash.update(readFileSync(file))
  }
  return hash.digest('hex').slice(0, 8)
}
