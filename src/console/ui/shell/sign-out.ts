import { notifications } from '@mantine/notifications'
import { api, unwrap } from '../api.ts'
import { dropDrafts } from '../views/knowledge/drafts.ts'

/** Ends the session and reloads, so that nothing stays in memory; says so if it could not be ended. */
export async function signOut(): Promise<void> {
  try {
    await unwrap(api.session.delete())
  } catch {
    notifications.show({
      color: 'red',
      title: 'You are still signed in',
      message: 'Callbook is not responding. Try again.',
    })
    return
  }
  dropDrafts()
  location.assign('/console/sign-in')
}
