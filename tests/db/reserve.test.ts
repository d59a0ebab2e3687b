import { expect, test } from 'bun:test'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { Reserve } from '../../src/db/reserve.ts'
import { freshFolder } from '../support/script.ts'

test('the reserve is made again by its keeper, whichever process has given it away', () => {
  const { folder, remove } = freshFolder()
  const file = join(folder, 'callbook.db')
  const size = () => statSync(`${file}-reserve`, { throwIfNoEntry: false })?.size
  const [keeper, other] = [new Reserve(file), new Reserve(file)]
  other.release()
  expect([other.hasRoom(), size()]).toEqual([true, undefined])
  keeper.keep()
  const whole = size()
  expect(whole).toBeGreaterThan(0)
  other.release()
  expect(size()).toBe(0)
  // There is room on this disk, but only one of them makes the file.
  expect([other.hasRoom(), size()]).toEqual([true, 0])
  expect([keeper.hasRoom(), size()]).toEqual([true, whole])
  remove()
})
