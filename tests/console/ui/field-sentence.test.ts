import { expect, test } from 'bun:test'
import { sentenceOf } from '../../../src/console/ui/components/field-sentence.ts'

test("an error of a field uses the field's name on the page", () => {
  expect(sentenceOf('newPerson.email', 'is already in use here')).toBe(
    'The email address is already in use here',
  )
  expect(sentenceOf('allowedIps.3', 'is no address')).toBe('An allowed address is no address')
  expect(sentenceOf('code', 'is wrong')).toBe('The code is wrong')
  expect(sentenceOf('isOn', 'needs another')).toBe('This needs another')
  expect(sentenceOf('odd.field', 'must be whole')).toBe('odd.field must be whole')
})
