import { refuseFields } from './errors.ts'
import { allOf, filterOf, type TagFilter, tagsMax, tagsProblem } from './text/tags.ts'
import { splitValues } from './text/values.ts'

/** Where a question is asked: in a project, within the tags of the key, the source and the address that ask it. */
export interface SearchScope {
  projectId: number
  tags: TagFilter
}

/** Where a key's request asks: within the tags of the key, and of the request's address. @throws invalid_request */
export function within(
  { projectId, tags }: { projectId: number; tags: readonly string[] },
  query: Readonly<Record<string, readonly string[] | undefined>> = {},
): SearchScope {
  return { projectId, tags: allOf(filterOf(tags), readTagFilter(query)) }
}

/** The filter `tags=a,b&tagsMatch=any|all` of an address. @throws invalid_request naming each bad parameter */
export function readTagFilter(query: Readonly<Record<string, readonly string[] | undefined>>): TagFilter {
  const tags = query.tags?.flatMap(splitValues) ?? []
  const match = query.tagsMatch?.at(-1) ?? 'any'
  refuseFields({
    tags: tagsProblem(tags),
    tagsMatch: match !== 'any' && match !== 'all' && 'must be any or all',
  })
  return filterOf(tags, match === 'all' ? 'all' : 'any')
}

/** The tags of an upload: those of its form, then those of its front matter, at most twenty. @throws invalid_request */
export function tagsOfUpload(field: string, own: readonly string[] = []): string[] {
  const given = field.trim() === '' ? [] : splitValues(field).map((tag) => tag.trim())
  refuseFields({ tags: tagsProblem(given) })
  return [...new Set([...given, ...own])].slice(0, tagsMax)
}
