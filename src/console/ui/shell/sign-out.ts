import { api, unwrap } from '../api.ts'

/** Ends the session and reloads, so that nothing stays in memory. */
export async function signOut(): Promise<void> {
  await unwrap(api.session.delete())
  location.assign('/console/sign-in')
}
