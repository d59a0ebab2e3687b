import { expect, test } from 'bun:test'
import { readIdentity, withUserInfo } from '../../../src/access/people/identity-claims.ts'

const read = (claims: Record<string, unknown>) => readIdentity(claims, 'groups')

test.each([
  [{ email_verified: true }, true],
  [{ email_verified: 'true' }, true],
  [{ xms_edov: true }, true],
  [{ xms_edov: '1' }, true],
  [{ email_verified: false, xms_edov: true }, false],
  [{ email_verified: 'yes' }, false],
  [{ email_verified: null }, false],
  [{ xms_edov: 0 }, false],
  [{}, false],
])('%j says whether the address is verified', (claims, isVerified) => {
  const { email } = read({ email: 'Ada@Example.com', ...claims })
  expect(email).toBe(isVerified ? 'ada@example.com' : null)
})

test.each(['ada', 'a@b', 'ada@example.com, eve@example.com', `${'a'.repeat(250)}@example.com`, 7, null])(
  '%j is no address',
  (email) => {
    expect(read({ email, email_verified: true }).email).toBeNull()
  },
)

test('groups are texts, and a single one may stand alone', () => {
  expect(read({ groups: ['a', 1, null, 'b'] }).groups).toEqual(['a', 'b'])
  expect(read({ groups: 'a' }).groups).toEqual(['a'])
  expect(read({ groups: [] }).groups).toEqual([])
  expect(read({}).groups).toBeNull()
  expect(readIdentity({ 'https://acme.example/roles': ['a'] }, 'https://acme.example/roles').groups).toEqual([
    'a',
  ])
})

test('a name is one that people could give themselves', () => {
  expect(read({ name: ' Ada\u202e\nLovelace ' }).name).toBe('Ada Lovelace')
  expect(read({ name: 'x'.repeat(300) }).name).toHaveLength(200)
  for (const name of ['', ' ', '\u200b', '\ud800', 7, undefined]) expect(read({ name }).name).toBeNull()
})

test('what verifies one address does not verify another', () => {
  const mine = { email: 'eve@example.com', email_verified: true }
  const merged = (inToken: Record<string, unknown>) => read(withUserInfo(inToken, mine)).email
  expect(merged({ email: 'ada@example.com' })).toBeNull()
  expect(merged({ email: 'eve@example.com', email_verified: false })).toBeNull()
  expect(merged({ email: 'eve@example.com' })).toBe('eve@example.com')
  expect(merged({ name: 'Eve' })).toBe('eve@example.com')
})

test.each([{ email_verified: true }, { xms_edov: true }])(
  'an ID token with %j does not vouch for an address that only the user info names',
  (inToken) => {
    const email = (userInfo: Record<string, unknown>) =>
      read(withUserInfo({ ...inToken, name: 'Eve' }, { email: 'ada@example.com', ...userInfo })).email
    expect(email({})).toBeNull()
    expect(email({ email_verified: false })).toBeNull()
    expect(email({ email_verified: true })).toBe('ada@example.com')
  },
)
