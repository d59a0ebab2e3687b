import { Elysia } from 'elysia'
import { callerContext } from '../../http/caller.ts'
import { readParameters } from '../../http/parameters.ts'
import { filterOf, tagsOf } from '../../text/tags.ts'
import { bodyOf, NoMembers } from '../../validation.ts'
import * as docs from './docs.ts'
import type { GoldenQuestion, GoldenQuestions } from './golden-questions.ts'
import type { GoldenRuns } from './golden-runs.ts'
import type { AskedQuestion, QuestionGroups } from './question-groups.ts'
import { readQuestionListRequest } from './question-list.ts'
import { GoldenRequest } from './schemas.ts'

interface QuestionParts {
  questionGroups: QuestionGroups
  golden: GoldenQuestions
  goldenRuns: GoldenRuns
}

/** /v1/questions: what agents asked, where the project keeps it, and golden questions. */
export function questionRoutes({ questionGroups, golden, goldenRuns }: QuestionParts) {
  return (
    new Elysia({ prefix: '/v1/questions' })
      .use(callerContext())
      .get(
        '',
        async ({ caller: { projectId }, request }) => {
          const listRequest = readQuestionListRequest(readParameters(request.url))
          const { data, ...page } = await questionGroups.page(projectId, listRequest)
          return { data: data.map(shownQuestion), ...page }
        },
        { detail: docs.listQuestions },
      )
      .get(
        '/golden',
        async ({ caller }) => ({ data: (await golden.list(caller.projectId)).map(shownGolden) }),
        { detail: docs.listGoldenQuestions },
      )
      .post(
        '/golden',
        async ({ caller: { projectId }, body, set }) => {
          const { id, isNew } = await golden.keep(
            projectId,
            { ...body, tags: filterOf(body.tags), keepsWordsOfCall: true },
            null,
          )
          set.status = isNew ? 201 : 200
          return shownGolden(await golden.get(projectId, id))
        },
        { parse: 'json', body: bodyOf(GoldenRequest), detail: docs.keepGoldenQuestion },
      )
      .post('/golden/run', ({ caller }) => goldenRuns.run(caller.projectId), {
        parse: 'json',
        body: bodyOf(NoMembers),
        detail: docs.runGoldenQuestions,
      })
      // Elysia gives null for an id with broken percent-encoding.
      .delete('/golden/:id', ({ caller, params }) => golden.delete(caller.projectId, params.id ?? ''), {
        detail: docs.deleteGoldenQuestion,
      })
      .get(
        '/:id',
        async ({ caller, params }) => {
          const question = await questionGroups.get(caller.projectId, params.id ?? '')
          const { passages, askings } = question
          return { ...shownQuestion(question), passages, askings }
        },
        { detail: docs.getQuestion },
      )
  )
}

/** Without what people of the console say of it. */
function shownQuestion({ id, query, tags, count, lastAt, callId, state, coverage, item }: AskedQuestion) {
  return { id, query, tags: tagsOf(tags), count, lastAt, callId, state, coverage, item }
}

/** Without its call, which a key of the scope `knowledge` does not see. */
function shownGolden({ id, query, tags, item, file }: GoldenQuestion) {
  return { id, query, tags: tagsOf(tags), item, file }
}
