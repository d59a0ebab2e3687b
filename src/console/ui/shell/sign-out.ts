import { api, unwrap } from '../api.ts'
import { dropDrafts } from '../views/knowledge/drafts.ts'

/** Ends the session and reloads, so that nothing stays in memory. */
export async function signOut(): Promise<void> {
  await unwrap(api.session.delete())
  dropDrafts()
  location.assign('/console/sign-in')
}
