import { setImmediate } from 'node:timers/promises'
import type { WindowFigures } from '../calls/figures/window-figures.ts'
import type { AlertState, Rule } from './schemas.ts'
import { nextState } from './state.ts'

const days = 30
const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs
/** A window is looked at so often while it passes: a longer one changes more slowly. */
const looksPerWindow = 15
/** So many calls of windows are looked at before other requests get a turn. */
const callsPerSlice = 50_000
const severity = ['no_data', 'ok', 'warning', 'alert'] as const satisfies AlertState[]

/** What a rule would have done. Times are ISO 8601, UTC. */
export interface Preview {
  /** Of each hour that ended at this time, the window with the worst state. */
  data: { at: string; value: number | null; calls: number; state: AlertState }[]
  /** When it would have been in the state `warning` or `alert`. */
  fired: { state: AlertState; from: string; until: string | null }[]
}

interface PreviewOptions {
  figures: Pick<WindowFigures, 'numbers' | 'valueOf'>
  projectId: number
  rule: Rule
  now: number
}

/** Evaluates a rule over the last 30 days, at least once an hour. */
export async function previewOf({ figures, projectId, rule, now }: PreviewOptions): Promise<Preview> {
  const windowMs = rule.windowMinutes * minuteMs
  const stepMs = Math.min(hourMs, Math.ceil(rule.windowMinutes / looksPerWindow) * minuteMs)
  const start = now - days * dayMs
  const numbers = await figures.numbers(projectId, rule, { from: start - windowMs, to: now })
  const preview: Preview = { data: [], fired: [] }
  let [first, end, looked] = [0, 0, 0]
  let state: AlertState = 'no_data'
  let worst: (Preview['data'][number] & { rank: number }) | undefined
  for (let to = start; to <= now; to += stepMs) {
    while (end < numbers.length && (numbers[end]?.at ?? 0) < to) end++
    while (first < end && (numbers[first]?.at ?? 0) < to - windowMs) first++
    const inWindow = numbers.slice(first, end).map(({ number }) => number)
    const [value, calls] = [figures.valueOf(rule.show, inWindow), inWindow.length]
    const { state: next }: { state: AlertState } = nextState(rule, { value, calls }, state)
    if (next !== state) addChange(preview.fired, next, new Date(to).toISOString())
    state = next
    const rank = severity.indexOf(state)
    if (!worst || rank >= worst.rank) worst = { at: '', value, calls, state, rank }
    if ((to - start) % hourMs < stepMs) {
      const { rank: _, ...shown } = worst
      preview.data.push({ ...shown, at: new Date(to).toISOString() })
      worst = undefined
    }
    looked += 1 + calls
    if (looked < callsPerSlice) continue
    looked = 0
    await setImmediate()
  }
  return preview
}

/** Ends the last entry, and begins one if the new state is one that fires. */
function addChange(fired: Preview['fired'], state: AlertState, at: string): void {
  const last = fired.at(-1)
  if (last && last.until === null) last.until = at
  if (state === 'warning' || state === 'alert') fired.push({ state, from: at, until: null })
}
