import { expect, test } from 'bun:test'
import { CallerAddress } from '../../../src/calls/keeping/caller-address.ts'

const address = new CallerAddress('secret')
const number = '+4930123456'

test('an address names a number in one project without showing it', () => {
  const name = address.write(1, number)
  expect(name).toMatch(/^[\w-]+$/)
  expect(Buffer.from(name, 'base64url').includes('30123456')).toBe(false)
  expect(address.write(1, number)).toBe(name)
  expect(address.read(1, name)).toBe(number)
})

test('another project, another key and another number have another address', () => {
  const name = address.write(1, number)
  expect(address.write(2, number)).not.toBe(name)
  expect(address.write(1, '+4930123457')).not.toBe(name)
  expect(address.read(2, name)).toBeNull()
  expect(new CallerAddress('other').read(1, name)).toBeNull()
})

test.each(['', 'x', '+4930123456', 'A'.repeat(40), 'A'.repeat(400), '.'.repeat(40)])(
  '%s is no address',
  (name) => {
    expect(address.read(1, name)).toBeNull()
  },
)

test('a changed address is none', () => {
  const bytes = Buffer.from(address.write(1, number), 'base64url')
  for (let at = 0; at < bytes.length; at++) {
    const changed = Buffer.from(bytes)
    changed.writeUInt8((changed[at] ?? 0) ^ 1, at)
    expect(address.read(1, changed.toString('base64url'))).toBeNull()
  }
})
