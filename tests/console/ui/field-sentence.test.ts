import { expect, test } from 'bun:test'
import { sentenceOf } from '../../../src/console/ui/components/field-sentence.ts'

test('what is wrong with a field is said with the name that pages have for it', () => {
  expect(sentenceOf('newPerson.email', 'is already in use here')).toBe(
    'The e-mail address is already in use here',
  )
  expect(sentenceOf('allowedIps.3', 'is no address')).toBe('An allowed address is no address')
  expect(sentenceOf('odd.field', 'must be whole')).toBe('odd.field must be whole')
})
