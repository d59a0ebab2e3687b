import { readFileSync } from 'node:fs'

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

/** Seconds of processor time that a process's main thread has used. */
export function processorSecondsOf(pid: number): number {
  return secondsIn(`/proc/${pid}/task/${pid}/stat`)
}

function secondsIn(file: string): number {
  // Fields 14 and 15, counted from the name's closing bracket: the name may hold spaces.
  const fields = readFileSync(file, 'utf8').split(') ').at(-1)?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond
}

/** What a process has used since its start. */
export interface ProcessUse {
  /** Of all its threads. */
  processorSeconds: number
  /** To files. */
  bytesWritten: number
}

export function processOf(pid: number): ProcessUse {
  const written = /^write_bytes: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1]
  return { processorSeconds: secondsIn(`/proc/${pid}/stat`), bytesWritten: Number(written) }
}
