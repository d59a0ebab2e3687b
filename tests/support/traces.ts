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
       // By their first four bytes, with a flag for each of these, so that every byte is looked at once, not for each trace.
       const byStart = new Map()
       const isStart = new Uint8Array(1 << 21)
       for (const [name, hex] of JSON.parse(readFileSync(list, 'utf8'))) {
         const trace = { name, bytes: Buffer.from(hex, 'hex') }
         const start = trace.bytes.readUInt32LE(0)
         byStart.set(start, [...(byStart.get(start) ?? []), trace])
         isStart[start & 0x1fffff] = 1
       }
       const namesIn = (bytes, names) => {
         for (let end = 0, start = 0; end < bytes.length; end++) {
           start = (start >>> 8) | (bytes[end] << 24)
           if (isStart[start & 0x1fffff] === 0) continue
           for (const { name, bytes: trace } of byStart.get(start >>> 0) ?? [])
             if (bytes.subarray(end - 3, end - 3 + trace.length).equals(trace)) names.add(name)
         }
         return names
       }
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
         for (const name of namesIn(lower, namesIn(bytes, new Set()))) found.push(name + ' in ' + entry.name)
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
