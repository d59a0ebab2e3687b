import type { Config } from '../config.ts'
import type { Log } from '../observability/log.ts'

export interface ServicesOptions {
  config: Config
  log: Log
  /** A command shares the folder with a running service, which owns it. */
  role: 'service' | 'command'
  /** Whether to own the folder if no other process does. By default a service does and a command does not. */
  takesFolder?: boolean
  /** How long to wait for a folder that another process owns. After that, the service takes it once it is free. */
  ownerWaitMs?: number
  /** Called when damage to the database is found after the start: the process should end. */
  onDamage?: (error: Error) => void
  /** Milliseconds since 1970. */
  now?: () => number
}
