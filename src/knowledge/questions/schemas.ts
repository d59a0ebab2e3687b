import { Type } from '@sinclair/typebox'
import { named } from '../../validation.ts'
import { Item, ItemId, SearchRequest, Tags } from '../schemas.ts'
import type { QuestionState } from './question-groups.ts'
import { questionStateNames } from './question-list.ts'

const time = Type.String({ format: 'date-time', example: '2026-01-31T09:30:00.000Z' })
const nullableText = (description: string, example: string) =>
  Type.Unsafe<string | null>({ type: 'string', nullable: true, description, example })
const coverage = Type.Unsafe<number | null>({
  type: 'number',
  nullable: true,
  description: 'How much of the question the best passage covers, 0 to 1; null where search does not tell.',
  example: 0.31,
})
const QuestionItem = Type.Unsafe<{ id: string; name: string } | null>({
  ...named('QuestionItem', { id: ItemId, name: Type.String({ example: 'Refund policy' }) }),
  nullable: true,
})

export const Question = named('Question', {
  id: Type.String({ description: 'Of its wording.', example: '5d0c3f8e7a1b4c6d9e2f5a8b' }),
  query: Type.String({ description: 'As it was last asked.', example: 'Can I still return my order?' }),
  tags: { ...Item.properties.tags, description: 'The tags within which it was asked.' },
  count: Type.Integer({ minimum: 1, description: 'How often it was asked.', example: 12 }),
  lastAt: time,
  callId: nullableText('The call in which it was last asked, if it is known.', 'call-1042'),
  state: Type.Unsafe<QuestionState>({ type: 'string', enum: [...questionStateNames] }),
  coverage,
  item: QuestionItem,
})

export const QuestionPage = named('QuestionPage', {
  data: Type.Array(Question),
  keepDays: Type.Unsafe<number | null>({
    type: 'integer',
    nullable: true,
    description: 'For how many days questions are kept; null where they are not.',
    example: 30,
  }),
  gapCoverage: Type.Number({ description: 'A question that is covered less is a gap.', example: 0.5 }),
  pagination: named('QuestionPagination', {
    next: nullableText('The `cursor` of the next page; null on the last.', 'MTIuMTc2OTg1…'),
  }),
})

export const QuestionDetails = named('QuestionDetails', {
  ...Question.properties,
  passages: Type.Array(
    named('QuestionPassage', {
      rank: Type.Integer({ minimum: 1, example: 1 }),
      position: Type.Integer({ minimum: 0, example: 0 }),
      item: QuestionItem,
      heading: nullableText('Titles of its section.', 'Refunds'),
      text: nullableText('As it is now, at most 1,200 characters.', 'We refund any order within 30 days.'),
      changedAt: Type.Unsafe<string | null>({ ...time, nullable: true }),
    }),
    { description: 'What it finds, best first.' },
  ),
  askings: Type.Array(
    named('Asking', { at: time, callId: nullableText('Its call, if it is known.', 'call-1042'), coverage }),
    { description: 'The last twenty, the newest first.' },
  ),
})

export const GoldenRequest = named('GoldenQuestionRequest', {
  query: SearchRequest.properties.query,
  itemId: Type.String({ minLength: 1, maxLength: 128, example: 'refund-policy' }),
  tags: Type.Optional({ ...Tags, description: 'It is asked among items with one of these tags.' }),
})

export const Golden = named('GoldenQuestion', {
  id: Type.String({ example: 'gq_5f0c2b7e7cc0a1d2e3f40516' }),
  query: SearchRequest.properties.query,
  tags: { ...Item.properties.tags, description: 'The tags within which it is asked.' },
  item: QuestionItem,
  file: nullableText("The file that has it in its front matter; null for a person's.", 'guide/refunds.md'),
})

export const GoldenList = named('GoldenQuestionList', { data: Type.Array(Golden) })

const share = (description: string) => Type.Number({ minimum: 0, maximum: 1, description, example: 0.95 })

export const GoldenOutcome = named('GoldenOutcome', {
  questions: Type.Integer({ minimum: 0, example: 20 }),
  hit1: share('The share whose item is that of the first passage.'),
  hit5: share('The share whose item is that of one of the first five passages.'),
  misses: Type.Array(
    named('GoldenMiss', {
      id: Golden.properties.id,
      query: Golden.properties.query,
      itemId: nullableText('The item that answers it; null once it is deleted.', 'refund-policy'),
      found: Type.Array(
        named('GoldenHit', { itemId: ItemId, name: Type.String({ example: 'Opening hours' }) }),
        {
          description: 'The items of the passages that were found instead, best first.',
        },
      ),
    }),
  ),
})
