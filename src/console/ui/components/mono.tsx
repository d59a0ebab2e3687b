import type { ReactNode } from 'react'

interface MonoProps {
  children: ReactNode
  /** Cuts off with an ellipsis when there is no room. */
  truncate?: boolean
}

/** For ids, keys and phone numbers. */
export function Mono({ children, truncate = false }: MonoProps) {
  return <span className={truncate ? 'cb-mono cb-truncate' : 'cb-mono'}>{children}</span>
}
