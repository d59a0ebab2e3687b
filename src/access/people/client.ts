export const addressHeader = 'x-callbook-address'
const userAgentCharsMax = 300

/** What sessions need to know about a request. */
export interface Client {
  /** Where its browser has the console open. */
  origin: string
  /** The `Cookie` header. */
  cookies: string | null
  address: string | null
  userAgent: string | null
  /** Sends the cookies that better-auth has set with the answer. */
  keepCookies: (set: Headers) => void
}

/** The headers passed to better-auth in place of the request's own. */
export function headersOf({
  cookies,
  address,
  userAgent,
}: Pick<Client, 'cookies' | 'address' | 'userAgent'>): Headers {
  const headers = new Headers()
  if (cookies) headers.set('cookie', cookies)
  if (address) headers.set(addressHeader, address)
  if (userAgent) headers.set('user-agent', userAgent.slice(0, userAgentCharsMax))
  return headers
}
