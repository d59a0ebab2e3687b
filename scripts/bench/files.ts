import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { AppError } from '../../src/errors.ts'
import { FileReader } from '../../src/knowledge/files/file-reader.ts'
import { fileKind } from '../../src/knowledge/files/file-text.ts'

// Reads every file of a folder as `POST /v1/knowledge/files` does, and prints each result: bun scripts/bench/files.ts
// FOLDER. Files of other kinds are skipped.

const mebi = 1_048_576
const [folder] = process.argv.slice(2)
if (!folder) {
  process.stderr.write('Usage: bun scripts/bench/files.ts FOLDER\n')
  process.exit(1)
}

const counts = { read: 0, refused: 0, failed: 0 }
const files = new FileReader()
let memoryBytesMax = 0
const startBytes = process.memoryUsage.rss()
const watch = setInterval(() => {
  memoryBytesMax = Math.max(memoryBytesMax, process.memoryUsage.rss() - startBytes)
}, 25)
for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()) {
  if (fileKind(name) === null || !statSync(join(folder, name)).isFile()) continue
  const { outcome, sentence, ms } = await read(join(folder, name))
  counts[outcome]++
  process.stdout.write(`${outcome.padEnd(8)} ${ms.toFixed(0).padStart(6)} ms  ${name}: ${sentence}\n`)
}
clearInterval(watch)
await files.close()
process.stdout.write(
  `${counts.read} read, ${counts.refused} refused with a reason, ${counts.failed} failed; ` +
    `at most ${Math.round(memoryBytesMax / mebi)} MiB more\n`,
)
process.exit(counts.failed === 0 ? 0 : 1)

async function read(path: string) {
  const startedAt = performance.now()
  const done = (outcome: keyof typeof counts, sentence: string) => {
    return { outcome, sentence, ms: performance.now() - startedAt }
  }
  try {
    const { name, text } = await files.read({ name: path, bytes: readFileSync(path) })
    return done('read', `“${name}”, ${text.length} characters`)
  } catch (error) {
    const isRefused = error instanceof AppError && error.code !== 'unavailable'
    return done(isRefused ? 'refused' : 'failed', String(error))
  }
}
