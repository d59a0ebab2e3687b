import type { Members } from '../access/people/members.ts'
import type { Upload } from '../http/json-body.ts'
import type { ActedBy } from '../identity.ts'
import type { FileReader } from '../knowledge/files/file-reader.ts'
import type { IndexedItems, ItemDetails } from '../knowledge/indexed-items.ts'
import type { ItemChanges } from '../knowledge/item-changes.ts'
import type { Knowledge, Twin } from '../knowledge/knowledge.ts'
import type { GoldenQuestions } from '../knowledge/questions/golden-questions.ts'
import type { GoldenRuns } from '../knowledge/questions/golden-runs.ts'
import type { QuestionChecks } from '../knowledge/questions/question-checks.ts'
import type { QuestionGroups } from '../knowledge/questions/question-groups.ts'
import type { QuestionMarks } from '../knowledge/questions/question-marks.ts'
import type { QuestionsOfCall } from '../knowledge/questions/questions-of-call.ts'
import { NewItem, PreviewRequest, SearchRequest } from '../knowledge/schemas.ts'
import type { Search } from '../knowledge/search/search.ts'
import { readTagFilter } from '../tags.ts'
import { bodyOf, NoMembers } from '../validation.ts'
import { consoleRoutes, jsonBody, limitOf } from './console-routes.ts'
import {
  AddedItem,
  AskedRequest,
  EditedItem,
  ItemsRequest,
  ItemsToDelete,
  ItemsToTag,
  KeptGolden,
  MarkedQuestion,
} from './schemas.ts'

export interface KnowledgeParts {
  knowledge: Knowledge
  itemChanges: ItemChanges
  indexedItems: IndexedItems
  files: FileReader
  search: Search
}

/** /console/api/projects/:project/knowledge: items, their index status, and the playground's search. */
export function knowledgeRoutes({ knowledge, itemChanges, indexedItems, files, search }: KnowledgeParts) {
  const add = async (
    projectId: number,
    { keepsBoth = false, ...item }: AddedItem,
    by: ActedBy,
  ): Promise<ItemDetails | { twin: Twin }> => {
    const twin = keepsBoth ? null : await knowledge.twin(projectId, item.text)
    if (twin) return { twin }
    // The chunks are embedded in the background; the page polls the status.
    const result = await knowledge.store(projectId, item, { by })
    return await indexedItems.get(projectId, result.item.id)
  }
  return (
    consoleRoutes('/console/api/projects/:project/knowledge')
      .get(
        '',
        ({ member, query: { tags, ...query } }) =>
          indexedItems.list(member.projectId, {
            ...query,
            filter: tags ? readTagFilter({ tags: tags.split(' ') }) : [],
            cursor: query.cursor || undefined,
            limit: limitOf(query.limit),
          }),
        { query: bodyOf(ItemsRequest) },
      )
      .post(
        '',
        async ({ member, by, body, set }) => {
          const result = await add(member.projectId, body, by)
          set.status = 'twin' in result ? 200 : 201
          return result
        },
        jsonBody(AddedItem),
      )
      .patch(
        '',
        ({ member, by, body }) => itemChanges.tagAll(member.projectId, body, by),
        jsonBody(ItemsToTag),
      )
      .delete(
        '',
        ({ member, by, body }) => knowledge.deleteAll(member.projectId, body.ids, by),
        jsonBody(ItemsToDelete),
      )
      // Reads a file without storing it: in the page it can still be edited.
      .post('/read', async ({ member, body }) => {
        // json-body.ts reads the bodies of this route as uploads.
        const { type, bytes } = body as Upload
        return (await files.readForm(member.projectId, type, bytes)).file
      })
      .post('/preview', ({ body }) => knowledge.preview(body.text), jsonBody(PreviewRequest))
      .post('/search', ({ member, body }) => search.explain(member.projectId, body), jsonBody(SearchRequest))
      .get('/:id', ({ member, params }) => indexedItems.get(member.projectId, params.id))
      .put(
        '/:id',
        async ({ member, by, params, body: { changeSeq, ...item } }) => {
          const isRead = (current: number | null) => current === changeSeq
          await itemChanges.patch(member.projectId, params.id, item, by, isRead)
          return await indexedItems.get(member.projectId, params.id)
        },
        jsonBody(EditedItem),
      )
      .post(
        '/:id/preview',
        ({ member, params, body }) => itemChanges.preview(member.projectId, params.id, body),
        jsonBody(NewItem),
      )
      .get('/:id/chunks', ({ member, params }) => indexedItems.chunks(member.projectId, params.id))
      .delete('/:id', ({ member, by, params }) => knowledge.delete(member.projectId, params.id, by))
  )
}

export interface QuestionParts {
  questionGroups: QuestionGroups
  questionMarks: QuestionMarks
  questionChecks: Pick<QuestionChecks, 'check'>
  questionsOfCall: (projectId: number, callId: string) => Promise<QuestionsOfCall>
  golden: GoldenQuestions
  goldenRuns: GoldenRuns
  members: Pick<Members, 'list'>
}

/** /console/api/projects/:project/questions: what agents asked, where the project keeps it, and golden questions. */
export function questionRoutes(parts: QuestionParts) {
  const { questionGroups, questionMarks, questionChecks, questionsOfCall, golden, goldenRuns, members } =
    parts
  return (
    consoleRoutes('/console/api/projects/:project/questions')
      .get('', ({ member }) => questionGroups.counts(member.projectId))
      .get('/times-found', async ({ member }) => ({
        data: await questionGroups.timesFound(member.projectId),
      }))
      .get('/asked', ({ member, query }) => questionGroups.list(member.projectId, query), {
        query: bodyOf(AskedRequest),
      })
      .get('/asked/:id', async ({ member: { projectId }, params }) => {
        const question = await questionGroups.get(projectId, params.id)
        return Object.assign(question, { alike: await questionGroups.alike(projectId, question) })
      })
      .patch(
        '/asked/:id',
        ({ member, person, params, body }) =>
          questionMarks.change(member.projectId, params.id, body, person.personId),
        jsonBody(MarkedQuestion),
      )
      .post(
        '/asked/:id/check',
        async ({ member, params }) => {
          await questionChecks.check(member.projectId, params.id)
          return await questionGroups.get(member.projectId, params.id)
        },
        jsonBody(NoMembers),
      )
      .get('/calls/:call', ({ member, params }) => questionsOfCall(member.projectId, params.call))
      // Who questions can be assigned to, without their addresses.
      .get('/people', async ({ member }) => {
        const people = await members.list(member.projectId)
        return people.map(({ personId: id, name }) => ({ id, name }))
      })
      .get('/golden', ({ member }) => goldenRuns.history(member.projectId))
      .post(
        '/golden',
        ({ member, person, body }) => golden.keep(member.projectId, body, person.personId),
        jsonBody(KeptGolden),
      )
      .post('/golden/run', async ({ member }) => {
        await goldenRuns.run(member.projectId)
        return await goldenRuns.history(member.projectId)
      })
      .delete('/golden/:id', ({ member, params }) => golden.delete(member.projectId, params.id))
  )
}
