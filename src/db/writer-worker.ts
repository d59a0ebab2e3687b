import { dataOfThread, sendEvent, serve } from '../threads/serve.ts'
import { FileSession } from './file-session.ts'
import type { WriterTarget } from './writer-messages.ts'

const target = dataOfThread<WriterTarget>()
const session =
  target.kind === 'file'
    ? new FileSession(target.url, (isSwept) => sendEvent({ isSwept }))
    : (await import('./remote-session.ts')).openRemoteSession(target)

serve(session, { close: () => session.close() })
