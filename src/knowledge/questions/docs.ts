import { deletedAnswer, jsonAnswer, keyedAnswers, pathParameter, queryParameter } from '../../http/openapi.ts'
import { badBody } from '../docs.ts'
import { questionStateNames } from './question-list.ts'
import { Golden, GoldenList, GoldenOutcome, QuestionDetails, QuestionPage } from './schemas.ts'

// The routes of questions in the OpenAPI document.

const keyed = { tags: ['Knowledge'], security: [{ apiKey: [] }] }
const ofGolden = [pathParameter('id', 'Of a golden question.', 'gq_5f0c2b7e7cc0a1d2e3f40516')]

export const listQuestions = {
  ...keyed,
  operationId: 'listQuestions',
  summary: 'List what agents asked',
  description:
    'Questions of one wording are one entry, the most asked first. Only projects whose settings say so keep questions.',
  parameters: [
    queryParameter(
      'state',
      '`gap` where no passage answers it.',
      { type: 'string', pattern: `^(${questionStateNames.join('|')})$`, default: 'gap' },
      'gap',
    ),
    queryParameter(
      'limit',
      'Questions per page, at most 1000; a larger value counts as 1000.',
      { type: 'integer', minimum: 0, maximum: 999_999_999_999_999, default: 100 },
      100,
    ),
    queryParameter(
      'cursor',
      '`pagination.next` of the previous page.',
      { type: 'string' },
      'MTIuMTc2OTg1MTgwMDAwMC41ZDBj',
    ),
  ],
  responses: keyedAnswers({ 200: jsonAnswer('A page of questions.', QuestionPage) }, ['invalid_request']),
}

export const getQuestion = {
  ...keyed,
  parameters: [pathParameter('id', 'Of a question.', '5d0c3f8e7a1b4c6d9e2f5a8b')],
  operationId: 'getQuestion',
  summary: 'Get a question, with what it finds and when it was asked',
  responses: keyedAnswers({ 200: jsonAnswer('The question.', QuestionDetails) }, ['not_found']),
}

export const listGoldenQuestions = {
  ...keyed,
  operationId: 'listGoldenQuestions',
  summary: 'List the golden questions',
  description: 'Questions that are kept with the item that answers them, the newest first.',
  responses: keyedAnswers({ 200: jsonAnswer('The golden questions.', GoldenList) }, []),
}

export const keepGoldenQuestion = {
  ...keyed,
  operationId: 'keepGoldenQuestion',
  summary: 'Keep a golden question',
  description:
    'Of a question that is kept already, the item is replaced. A question that a caller asked, where the project keeps ' +
    'questions, is erased with its call.',
  responses: keyedAnswers(
    {
      200: jsonAnswer('It was kept already.', Golden),
      201: jsonAnswer('The golden question.', Golden),
    },
    [...badBody, 'insufficient_storage'],
  ),
}

export const runGoldenQuestions = {
  ...keyed,
  operationId: 'runGoldenQuestions',
  summary: 'Ask all golden questions now',
  description: 'As an agent would, five passages each. What they find is kept, and shown in the console.',
  responses: keyedAnswers({ 200: jsonAnswer('What they found.', GoldenOutcome) }, [
    ...badBody,
    'insufficient_storage',
  ]),
}

export const deleteGoldenQuestion = {
  ...keyed,
  parameters: ofGolden,
  operationId: 'deleteGoldenQuestion',
  summary: 'Delete a golden question',
  responses: keyedAnswers({ 200: deletedAnswer('The golden question is deleted.') }, [
    'not_found',
    'insufficient_storage',
  ]),
}
