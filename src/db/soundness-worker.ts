import { parentPort, workerData } from 'node:worker_threads'
import Database from 'libsql'
import { endWorker } from '../end-worker.ts'
import { lowerPriority } from '../thread-priority.ts'

/** Looks for damage in a database file on a thread of its own: a gigabyte takes some seconds. */

const busyTimeoutMs = 5_000
const niceness = 10

const port = parentPort
if (!port) throw new Error('soundness-worker.ts runs as a worker thread only')
lowerPriority(niceness)
port.postMessage(findDamage(workerData.file))
endWorker(port)

/** What is wrong, in SQLite's words; null when nothing is found. */
function findDamage(file: string): string | null {
  try {
    const connection = new Database(file, { timeout: busyTimeoutMs })
    try {
      connection.exec('pragma query_only = on')
      const [line] = connection.prepare('pragma quick_check(1)').pluck().all()
      return line === 'ok' ? null : String(line)
    } finally {
      connection.close()
    }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    // Anything else, such as a lock, says nothing of the file; whoever uses it learns of it.
    return error instanceof Error && /^SQLITE_(CORRUPT|NOTADB)/.test(code) ? error.message : null
  }
}
