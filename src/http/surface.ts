import type { AppError } from '../errors.ts'

/** A protocol of somebody else's, spoken under one path: what it does in another way than the rest of the service. */
export interface Protocol {
  /** Such as `/integrations/other`: the path itself and everything below it. */
  readonly prefix: string
  /** What stands for the Authorization header, where the key may also come by another way. */
  authorizationOf?(headers: Headers): string | null
  /** The JSON body of an error. Its status and headers are the same everywhere. */
  errorBody(error: AppError): object
}

/** The protocol spoken at a path, if it is not our own. */
export function protocolAt(protocols: readonly Protocol[], path: string): Protocol | undefined {
  return protocols.find(({ prefix }) => isUnder(path, prefix))
}

export function isUnder(path: string, prefix: string): boolean {
  return path.startsWith(prefix) && (path.length === prefix.length || path[prefix.length] === '/')
}
