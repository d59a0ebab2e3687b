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
/** So many windows are judged before other requests get a turn. */
const windowsPerSlice = 2_000
const severity = ['no_data', 'ok', 'warning', 'alert'] as const satisfies AlertState[]

/** What a rule would have done. */
export interface Preview {
  /** The window with the worst state of each hour, which ended at this time. */
  data: { at: string; value: number | null; calls: number; state: AlertState }[]
  /** When it would have been in the state `warning` or `alert`. */
  fired: { state: AlertState; from: string; until: string | null }[]
}

interface PreviewOptions {
  figures: Pick<WindowFigures, 'ofWindows'>
  projectId: number
  rule: Rule
  now: number
}

/** Evaluates a rule over the last 30 days, at least once an hour. */
export async function previewOf({ figures, projectId, rule, now }: PreviewOptions): Promise<Preview> {
  const stepMs = Math.min(hourMs, Math.ceil(rule.windowMinutes / looksPerWindow) * minuteMs)
  const start = now - days * dayMs
  const windows = { firstEnd: start, lastEnd: now, stepMs, lengthMs: rule.windowMinutes * minuteMs }
  const { values, calls: counts } = await figures.ofWindows(projectId, rule, windows)
  const preview: Preview = { data: [], fired: [] }
  let state: AlertState = 'no_data'
  let worst: (Preview['data'][number] & { rank: number }) | undefined
  for (const [index, calls] of counts.entries()) {
    const to = start + index * stepMs
    const number = values[index] ?? Number.NaN
    const value = Number.isNaN(number) ? null : number
    const { state: next }: { state: AlertState } = nextState(rule, { value, calls }, state)
    if (next !== state) addChange(preview.fired, next, new Date(to).toISOString())
    state = next
    const rank = severity.indexOf(state)
    if (!worst || rank >= worst.rank) worst = { at: '', value, calls, state, rank }
    if ((to - start) % hourMs < stepMs) {
      const { rank: _, ...moment } = worst
      preview.data.push({ ...moment, at: new Date(to).toISOString() })
      worst = undefined
    }
    if (index % windowsPerSlice === 0) await setImmediate()
  }
  return preview
}

/** Ends the last entry, and begins one if the new state is one that fires. */
function addChange(fired: Preview['fired'], state: AlertState, at: string): void {
  const last = fired.at(-1)
  if (last && last.until === null) last.until = at
  if (state === 'warning' || state === 'alert') fired.push({ state, from: at, until: null })
}
