import type { QuestionGroups } from '../knowledge/questions/question-groups.ts'
import { bodyOf } from '../validation.ts'
import { consoleRoutes } from './console-routes.ts'
import { AskedRequest } from './schemas.ts'

export interface QuestionRoutesOptions {
  questionGroups: QuestionGroups
}

/** /console/api/projects/:project/questions: what agents asked, where the project keeps it. */
export function consoleQuestionRoutes({ questionGroups }: QuestionRoutesOptions) {
  return consoleRoutes('/console/api/projects/:project/questions')
    .get('', ({ member }) => questionGroups.counts(member.projectId))
    .get('/asked', ({ member, query }) => questionGroups.list(member.projectId, query), {
      query: bodyOf(AskedRequest),
    })
}
