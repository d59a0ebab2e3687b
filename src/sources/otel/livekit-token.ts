import { limits } from '../../limits.ts'
import { jsonOf } from '../../validation.ts'
import { isObject } from '../fields.ts'
import { bearerOf, isHmac } from '../signature.ts'

/** A token with which an agent may send what it observes; its signature is still to be checked. */
export interface AgentToken {
  /** The API key, whose secret signs the token. */
  apiKey: string
  signed: string
  signature: string
}

/** Real ones have some 500. Nobody has signed what is read of it. */
const tokenCharsMax = limits.token.most
/** How far the agent's clock may be off. */
const leewaySeconds = 60

/**
 * Reads the token of `Authorization: Bearer` (RFC 7519, HS256).
 * @param now in milliseconds since 1970
 * @returns null unless it is valid now and has the grant `observability.write`
 */
export function readToken(headers: Headers, now: number): AgentToken | null {
  const token = bearerOf(headers) ?? ''
  if (token.length > tokenCharsMax) return null
  const [head = '', body = '', signature = '', ...more] = token.split('.')
  const [{ alg }, { iss, exp, nbf = 0, observability }] = [partOf(head), partOf(body)]
  if (more.length > 0 || alg !== 'HS256' || typeof iss !== 'string' || iss === '') return null
  if (typeof exp !== 'number' || typeof nbf !== 'number') return null
  const seconds = now / 1_000
  if (seconds >= exp + leewaySeconds || seconds < nbf - leewaySeconds) return null
  if (!isObject(observability) || observability.write !== true) return null
  return { apiKey: iss, signed: `${head}.${body}`, signature }
}

export function isSignedWith({ signed, signature }: AgentToken, secret: string): boolean {
  return isHmac({ key: secret, parts: [signed], signatures: [signature], encoding: 'base64url' })
}

function partOf(text: string): Record<string, unknown> {
  const value = jsonOf(Buffer.from(text, 'base64url').toString())
  return isObject(value) ? value : {}
}
