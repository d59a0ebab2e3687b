import { api, unwrap } from '../api.ts'

/** Ends the session and leaves the page, so that nothing of it stays in the memory. */
export async function signOut(): Promise<void> {
  await unwrap(api.session.delete())
  location.assign('/console/sign-in')
}
