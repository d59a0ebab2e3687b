import { dataOfThread, serve } from '../threads/serve.ts'
import { FileSession } from './file-session.ts'
import { openRemoteSession } from './remote-session.ts'
import type { WriterTarget } from './writer-messages.ts'

const target = dataOfThread<WriterTarget>()
const session = target.kind === 'file' ? new FileSession(target.url) : openRemoteSession(target)

serve(session, { close: () => session.close() })
