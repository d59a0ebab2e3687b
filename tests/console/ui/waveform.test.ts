import { expect, test } from 'bun:test'
import { lanePath, readWaveform, silencesOf } from '../../../src/console/ui/views/calls/call-track.ts'
import { Peaks } from '../../../src/recordings/audio/peaks.ts'

/** Two lanes of a second for each level, as the service computes them. */
function computed(caller: readonly number[], agent: readonly number[]): ArrayBuffer {
  const rate = 100
  const peaks = new Peaks(2, rate)
  for (const [at, level] of caller.entries())
    peaks.add([new Float32Array(rate).fill(level), new Float32Array(rate).fill(agent[at] ?? 0)])
  const bytes = peaks.toBytes()
  return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer
}

test('what the service has computed is read, against the loudest of both lanes', () => {
  const waveform = readWaveform(computed([0.5, 0, 0, 0.25], [0, 0, 0, 0.25]))
  expect(waveform?.seconds).toBe(4)
  expect(waveform?.lanes.map((lane) => lane[50])).toEqual([1, 0])
  expect(waveform?.lanes[1]?.[350]).toBeCloseTo(0.5, 1)
  expect(readWaveform(new ArrayBuffer(0))).toBeNull()
})

test('silence is where no lane is heard for two seconds', () => {
  const waveform = readWaveform(
    computed([0.5, 0, 0.4, 0, 0, 0, 0, 0.5, 0, 0], [0, 0.3, 0, 0, 0, 0.5, 0, 0, 0, 0]),
  )
  expect(waveform && silencesOf(waveform)).toEqual([
    [3, 5],
    [8, 10],
  ])
})

test('a lane is a closed path, up or down from the middle, with a bar for each run of columns', () => {
  const size = { width: 4, middle: 10, height: 8 }
  expect(lanePath([0, 1], { ...size, direction: -1 })).toBe('M0 10V9.5H2.00V2.0H4.00V10z')
  expect(lanePath([1, 0], { ...size, direction: 1 })).toBe('M0 10V18.0H2.00V10.5H4.00V10z')
  const long = lanePath(new Array(1_200).fill(1), { ...size, direction: 1 })
  expect(long.match(/H/g)?.length).toBe(600)
})
