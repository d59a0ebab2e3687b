import { rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inIndex } from '../../scripts/torture/vectors.ts'
import { runScript } from './script.ts'

/** Bytes that must be in no file, with a name for reports. */
export interface Trace {
  name: string
  bytes: Uint8Array
}

/**
 * Which of the traces are in which files under a folder, as `name in file`. Texts are found in any case. A process
 * of its own looks: one that opens and closes a database file loses its locks on it.
 */
export async function findTraces(folder: string, traces: Trace[]): Promise<string[]> {
  return (await searchTraces(folder, traces)).found
}

/** The same, and how many bytes were searched. */
export async function searchTraces(
  folder: string,
  traces: Trace[],
): Promise<{ found: string[]; bytes: number }> {
  const list = join(tmpdir(), `traces-${crypto.randomUUID()}.json`)
  writeFileSync(
    list,
    JSON.stringify(traces.map(({ name, bytes }) => [name, Buffer.from(bytes).toString('hex')])),
  )
  try {
    const script = runScript(
      `import { readdirSync, readFileSync } from 'node:fs'
       const [folder, list] = process.argv.slice(-2)
       const traces = JSON.parse(readFileSync(list, 'utf8')).map(([name, hex]) => [name, Buffer.from(hex, 'hex')])
       const found = []
       let total = 0
       for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
         if (!entry.isFile()) continue
         let bytes
         try {
           bytes = readFileSync(entry.parentPath + '/' + entry.name)
         } catch {
           continue
         }
         total += bytes.length
         const lower = Buffer.from(bytes.toString('latin1').toLowerCase(), 'latin1')
         for (const [name, trace] of traces)
           if (bytes.includes(trace) || lower.includes(trace)) found.push(name + ' in ' + entry.name)
       }
       console.log(JSON.stringify({ found, bytes: total }))`,
      folder,
      list,
    )
    return JSON.parse(await script.ended)
  } finally {
    rmSync(list)
  }
}

/** A word that is nowhere else, and ends so that no stemmer shortens it. */
export function newWord(): string {
  return `q${crypto.randomUUID().replaceAll('-', '').slice(0, 22)}7`
}

/** The word in lower case, its beginning and its end: keyword indexes share beginnings among neighbours. */
export function tracesOfWord(word: string): Trace[] {
  const lower = word.toLowerCase()
  return [lower.slice(0, 12), lower.slice(-12)].map((part) => ({
    name: `${part} (${word})`,
    bytes: Buffer.from(part),
  }))
}

/** Two pieces of a vector's bytes, and two of those that an index has, that are not mostly zeros. */
export function tracesOfVector(name: string, vector: Uint8Array): Trace[] {
  return [...piecesOf(name, vector), ...piecesOf(`${name} of the index`, inIndex(vector))]
}

function piecesOf(name: string, vector: Uint8Array): Trace[] {
  const pieces: Trace[] = []
  for (let start = 0; start + 32 <= vector.length && pieces.length < 2; start += 32) {
    const bytes = vector.slice(start, start + 32)
    if (new Set(bytes).size >= 16) pieces.push({ name: `${name} from byte ${start}`, bytes })
  }
  return pieces
}
