import { Elysia } from 'elysia'
import { invalidRequest } from '../errors.ts'
import { callerContext } from '../http/caller.ts'
import { jsonAnswer, protocolAnswers } from '../http/openapi.ts'
import { readParameters } from '../http/parameters.ts'
import type { Protocol } from '../http/surface.ts'
import { tagParameters } from '../knowledge/docs.ts'
import type { Knowledge } from '../knowledge/knowledge.ts'
import type { RecordedSearch } from '../knowledge/questions/recorded-search.ts'
import type { Projects } from '../projects/projects.ts'
import { readTagFilter, type SearchScope, within } from '../tags.ts'
import { allOf } from '../text/tags.ts'
import { bodyOf } from '../validation.ts'
import { limitOf, toErrorBody, toRecords, UnknownKnowledge } from './dify.ts'
import { DifyAnswer, DifyError, DifyRequest } from './dify-schemas.ts'
import { toQuery } from './query-text.ts'

interface DifyRoutesOptions {
  search: Pick<RecordedSearch, 'search'>
  knowledge: Pick<Knowledge, 'head'>
  /** Gives the id and the name of the caller's project. */
  projects: Pick<Projects, 'get'>
}

const prefix = '/integrations/dify'
const tagsPrefix = 'tags:'

export const difyProtocol: Protocol = { prefix, errorBody: toErrorBody }

/** /integrations/dify: serves a project's knowledge as an external knowledge base. */
export function difyRoutes(options: DifyRoutesOptions) {
  return new Elysia({ prefix })
    .use(callerContext())
    .post(
      '/retrieval',
      ({ caller, body, request }) => retrieve(options, within(caller, readParameters(request.url)), body),
      {
        parse: 'json',
        body: bodyOf(DifyRequest),
        detail: {
          tags: ['Integrations'],
          security: [{ apiKey: [] }],
          operationId: 'retrieveForDify',
          summary: 'Serve as an external knowledge base of Dify',
          parameters: tagParameters,
          responses: protocolAnswers(
            { 200: jsonAnswer('Passages, best first.', DifyAnswer) },
            ['invalid_request', 'not_found', 'payload_too_large', 'unsupported_media_type'],
            DifyError,
          ),
        },
      },
    )
}

async function retrieve(
  options: DifyRoutesOptions,
  scope: SearchScope,
  { knowledge_id, query, retrieval_setting, metadata_condition = null }: DifyRequest,
): Promise<DifyAnswer> {
  // Ignored, it would find too much.
  if (metadata_condition !== null) throw noConditions()
  const knowledge = await findKnowledge(options, scope, knowledge_id)
  const request = { query: toQuery(query), limit: limitOf(retrieval_setting), itemIds: knowledge.itemIds }
  const { answer, coverages } = await options.search.search(knowledge.scope, request)
  return { records: toRecords(answer.data, coverages, retrieval_setting) }
}

/** What to search: the whole project, items with certain tags, or one item. @throws UnknownKnowledge */
async function findKnowledge(
  { knowledge, projects }: DifyRoutesOptions,
  scope: SearchScope,
  knowledgeId: string,
): Promise<{ scope: SearchScope; itemIds?: string[] }> {
  const { id, name } = await projects.get(scope.projectId)
  if (knowledgeId === id || knowledgeId === name) return { scope }
  if (knowledgeId.startsWith(tagsPrefix)) {
    const tags = allOf(scope.tags, readTagFilter({ tags: [knowledgeId.slice(tagsPrefix.length)] }))
    return { scope: { ...scope, tags } }
  }
  if (await knowledge.head(scope, knowledgeId)) return { scope, itemIds: [knowledgeId] }
  throw new UnknownKnowledge()
}

function noConditions() {
  const message = 'must be null: name tags in knowledge_id instead, such as tags:billing,eu'
  return invalidRequest([{ field: 'metadata_condition', message }])
}
