import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** In megabytes of 10^6 bytes. Pages of a mapped file count as resident, but not as the process's own. */
export interface Memory {
  residentMb: number
  /** Anonymous pages: what the process has allocated. */
  ownMb: number
  residentMbMax: number
}

/** From /proc, which is on Linux only. */
export function memoryOf(pid: number): Memory {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const read = (name: string) => {
    const kibibytes = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1] ?? 'NaN'
    return Math.round((Number(kibibytes) * 1_024) / 1e6)
  }
  return { residentMb: read('VmRSS'), ownMb: read('RssAnon'), residentMbMax: read('VmHWM') }
}

const ticksPerSecond = 100

/** What a process and its children have used since their start. */
export interface ProcessUse {
  /** Of all threads. */
  processorSeconds: number
  /** Handed to the system: `write_bytes` counts a whole folio, up to 2 MB, for each page in it. Not what sockets send. */
  bytesWritten: number
}

/** Children that have ended count with their parent. */
export function processOf(pid: number): ProcessUse {
  const use: ProcessUse = { processorSeconds: 0, bytesWritten: 0 }
  for (const process of treeOf(pid)) {
    try {
      // Fields 14 to 17, counted from the name's closing bracket: the name may hold spaces.
      const fields = readFileSync(`/proc/${process}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? []
      const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0)
      const written = /^wchar: (\d+)$/m.exec(readFileSync(`/proc/${process}/io`, 'utf8'))?.[1]
      use.processorSeconds += ticks / ticksPerSecond
      use.bytesWritten += Number(written)
    } catch {
      // It has just ended, and its parent has what it used.
    }
  }
  return use
}

/** Megabytes of a process and its children. What they share, such as buffers and the program, counts once. */
export function memoryOfTree(pid: number): number {
  const shared = new Map<string, number>()
  let own = 0
  for (const process of treeOf(pid)) {
    const { residentMb, ownMb } = memoryOf(process)
    const program = readlinkSync(`/proc/${process}/exe`)
    own += ownMb
    shared.set(program, Math.max(shared.get(program) ?? 0, residentMb - ownMb))
  }
  return [...shared.values()].reduce((sum, each) => sum + each, own)
}

/** Without what has just ended. */
function treeOf(pid: number): number[] {
  try {
    const threads = readdirSync(`/proc/${pid}/task`)
    const children = threads.flatMap((thread) =>
      readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
    )
    return [pid, ...children.flatMap(treeOf)]
  } catch {
    return [pid]
  }
}
