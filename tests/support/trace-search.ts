import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

// Looks for bytes in all files of a folder: a line of JSON for each search, and one for what it found. A program of its
// own, since a process that opens and closes a database file loses its locks on it.

export interface TraceSearch {
  folder: string
  /** Names, and bytes in hexadecimal digits. */
  traces: [name: string, hex: string][]
}

export interface TraceResult {
  /** As `name in file`. */
  found: string[]
  /** How many bytes were searched. */
  bytes: number
}

interface Start {
  /** By their first four bytes, with a flag for each of these, so that every byte is looked at once, not for each trace. */
  byStart: Map<number, { name: string; bytes: Buffer }[]>
  isStart: Uint8Array
}

/** So few that the flags stay in the cache of the processor. */
const startBits = 0xffff
const lower = Uint8Array.from({ length: 256 }, (_, byte) =>
  String.fromCharCode(byte).toLowerCase().charCodeAt(0),
)

for await (const line of createInterface({ input: process.stdin }))
  process.stdout.write(`${JSON.stringify(search(JSON.parse(line)))}\n`)

function search({ folder, traces }: TraceSearch): TraceResult {
  const start = startsOf(traces)
  const result: TraceResult = { found: [], bytes: 0 }
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const bytes = readIfThere(join(entry.parentPath, entry.name))
    result.bytes += bytes.length
    const names = namesIn(bytes, start)
    for (let at = 0; at < bytes.length; at++) bytes[at] = lower[bytes[at] ?? 0] ?? 0
    for (const name of new Set([...names, ...namesIn(bytes, start)]))
      result.found.push(`${name} in ${entry.name}`)
  }
  return result
}

function startsOf(traces: TraceSearch['traces']): Start {
  const byStart: Start['byStart'] = new Map()
  const isStart = new Uint8Array(startBits + 1)
  for (const [name, hex] of traces) {
    const trace = { name, bytes: Buffer.from(hex, 'hex') }
    const start = trace.bytes.readUInt32LE(0)
    byStart.set(start, [...(byStart.get(start) ?? []), trace])
    isStart[start & startBits] = 1
  }
  return { byStart, isStart }
}

function namesIn(bytes: Buffer, { byStart, isStart }: Start): Set<string> {
  const names = new Set<string>()
  for (let end = 0, start = 0; end < bytes.length; end++) {
    start = (start >>> 8) | ((bytes[end] ?? 0) << 24)
    if (isStart[start & startBits] === 0) continue
    for (const { name, bytes: trace } of byStart.get(start >>> 0) ?? [])
      if (bytes.subarray(end - 3, end - 3 + trace.length).equals(trace)) names.add(name)
  }
  return names
}

/** A file may be removed while its folder is read. */
function readIfThere(file: string): Buffer {
  try {
    return readFileSync(file)
  } catch {
    return Buffer.alloc(0)
  }
}
