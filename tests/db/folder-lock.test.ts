import { beforeEach, expect, test } from 'bun:test'
import { FolderLock } from '../../src/db/folder-lock.ts'
import { freshFolder } from '../support/at-end.ts'
import { runScript } from '../support/script.ts'

let folder: string

beforeEach(() => {
  folder = freshFolder()
})

test('while one process holds the lock, others do not get it', async () => {
  const other = holdLock()
  await other.said('holding')
  expect(FolderLock.tryAcquire(folder, 'owner')).toBeNull()
  await other.kill()
})

test('the lock is exclusive within a process, and free once released', () => {
  const lock = FolderLock.tryAcquire(folder, 'owner')
  expect(lock).not.toBeNull()
  expect(FolderLock.tryAcquire(folder, 'owner')).toBeNull()
  lock?.release()
  const again = FolderLock.tryAcquire(folder, 'owner')
  expect(again).not.toBeNull()
  again?.release()
})

test('a failed try leaves the lock where it is', async () => {
  const lock = FolderLock.tryAcquire(folder, 'owner')
  expect(FolderLock.tryAcquire(folder, 'owner')).toBeNull()
  const other = runScript(
    `import { FolderLock } from './src/db/folder-lock.ts'
     console.log(FolderLock.tryAcquire(process.argv.at(-1), 'owner') ? 'taken' : 'held')`,
    folder,
  )
  expect(await other.ended).toBe('held\n')
  lock?.release()
})

test('locks of other names are not affected', () => {
  const one = FolderLock.tryAcquire(folder, 'owner')
  const two = FolderLock.tryAcquire(folder, 'migrate')
  expect(two).not.toBeNull()
  one?.release()
  two?.release()
})

test('the lock is free once its holder is killed', async () => {
  const other = holdLock()
  await other.said('holding')
  await other.kill()
  const lock = FolderLock.tryAcquire(folder, 'owner')
  expect(lock).not.toBeNull()
  lock?.release()
})

test('acquire gets the lock when it is released, and throws when that takes too long', async () => {
  const lock = FolderLock.tryAcquire(folder, 'owner')
  const late = FolderLock.acquire(folder, 'owner', 100)
  expect(await late.catch((error) => error.message)).toMatch(/owner\.lock has been held .* for 100 ms/)
  const waiting = FolderLock.acquire(folder, 'owner', 5_000)
  lock?.release()
  const next = await waiting
  next.release()
})

function holdLock() {
  return runScript(
    `import { FolderLock } from './src/db/folder-lock.ts'
     if (FolderLock.tryAcquire(process.argv.at(-1), 'owner')) console.log('holding')
     await Bun.sleep(60_000)`,
    folder,
  )
}
