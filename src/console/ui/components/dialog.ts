import type { ReactNode } from 'react'

export interface Dialog {
  title: string
  /** Its width in px. */
  size?: number
  /** Whether only its own buttons close it. */
  isLocked?: boolean
  /** Whether a click beside it does not close it. */
  isKept?: boolean
  content: (close: () => void) => ReactNode
}

/** What is asked before something is done. */
export interface Question {
  /** A question, such as `Delete this call?` */
  title: string
  /** The button's label, such as `Delete call`. */
  verb: string
  /** What will be lost, and whether it can be undone. */
  text: ReactNode
  /** A word to type; without one, a click is enough. */
  word?: string
  /** False for what can be undone; the button is not red then. */
  isDanger?: boolean
}
export type AnyDialog = Dialog | (Question & { run: () => Promise<unknown> })
