/** The loudness of a recording in columns of equal time, from 0 to 1: one lane, or the caller's and the agent's. */
export interface Waveform {
  lanes: readonly (readonly number[])[]
  /** The length of all columns together. */
  seconds: number
}

const version = 1
const headerBytes = 8
/** Quieter columns are silence, as a share of the loudest. */
const silentBelow = 0.04
const silenceSecondsMin = 2
/** Makes quiet voices visible. */
const curve = 0.7
/** More columns than this are narrower than a pixel. */
const barsMax = 600

/** Reads what the service has computed: see src/recordings/audio/peaks.ts. Null if it could not. */
export function readWaveform(bytes: ArrayBuffer): Waveform | null {
  const view = new DataView(bytes)
  if (view.byteLength <= headerBytes || view.getUint8(0) !== version) return null
  const columns = view.getUint16(2, true)
  const levels = Array.from({ length: view.getUint8(1) }, (_, lane) => [
    ...new Uint8Array(bytes, headerBytes + lane * columns, columns),
  ])
  const loudest = levels.flat().reduce((most, level) => Math.max(most, level), 1)
  const lanes = levels.map((lane) => lane.map((level) => level / loudest))
  return { lanes, seconds: view.getFloat32(4, true) }
}

/** When nobody speaks, as seconds from and to, the shorter pauses left out. */
export function silencesOf({ lanes, seconds }: Waveform): [from: number, to: number][] {
  const columns = Array.from({ length: lanes[0]?.length ?? 0 }, (_, at) =>
    lanes.every((lane) => (lane[at] ?? 0) < silentBelow),
  )
  return runsOf(columns, seconds, silenceSecondsMin)
}

/** The runs of columns of equal time that are true, as seconds from and to, if they are this long. */
export function runsOf(columns: readonly boolean[], seconds: number, secondsMin: number) {
  const runs: [from: number, to: number][] = []
  let from = 0
  for (let at = 0; at <= columns.length; at++) {
    if (columns[at]) continue
    const [start, end] = [(from / columns.length) * seconds, (at / columns.length) * seconds]
    if (end - start >= secondsMin) runs.push([start, end])
    from = at + 1
  }
  return runs
}

/** The path of a lane: its area above (`-1`) or below (`1`) a line. */
export function lanePath(
  lane: readonly number[],
  { width, middle, height, direction }: { width: number; middle: number; height: number; direction: 1 | -1 },
): string {
  const step = Math.ceil(lane.length / barsMax)
  let path = `M0 ${middle}`
  for (let at = 0; at < lane.length; at += step) {
    const level = lane.slice(at, at + step).reduce((most, next) => Math.max(most, next), 0)
    const y = middle + direction * Math.max(0.5, level ** curve * height)
    path += `V${y.toFixed(1)}H${((Math.min(lane.length, at + step) / lane.length) * width).toFixed(2)}`
  }
  return `${path}V${middle}z`
}
