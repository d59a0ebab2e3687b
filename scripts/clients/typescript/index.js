import createClient from 'openapi-fetch'

/** @type {import('./index.d.ts').createCallbook} */
export function createCallbook({ baseUrl = 'http://127.0.0.1:3000', key, ...options }) {
  return createClient({
    ...options,
    baseUrl,
    headers: { ...options.headers, Authorization: `Bearer ${key}` },
  })
}
