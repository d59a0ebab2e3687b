import type { ReactNode } from 'react'

interface MonoProps {
  children: ReactNode
  /** Cut off with an ellipsis when there is no room. */
  truncate?: boolean
}

/** Ids, keys and numbers of phones. */
export function Mono({ children, truncate = false }: MonoProps) {
  return <span className={truncate ? 'cb-mono cb-truncate' : 'cb-mono'}>{children}</span>
}
