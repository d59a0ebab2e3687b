/** The most tags of an item, a key, a source or a request. */
export const tagsMax = 20
export const tagPattern = '^[a-z0-9][a-z0-9._:/-]{0,49}$'
export const tagMessage = 'must be 1 to 50 characters of a-z 0-9 . _ : / -, and begin with a letter or digit'
const tagForm = new RegExp(tagPattern)

export type TagsMatch = 'any' | 'all'

/** An item must have one tag of each group. Without groups, all items are meant. */
export type TagFilter = readonly (readonly string[])[]

export function isTag(text: string): boolean {
  return tagForm.test(text)
}

/** Tags as they are stored: sorted, each once. */
export function toTags(tags: readonly string[]): string[] {
  return [...new Set(tags)].sort()
}

/** Why a list of tags is refused; null if it is not. */
export function tagsProblem(tags: readonly string[]): string | null {
  if (tags.length > tagsMax) return `must have at most ${tagsMax} entries`
  return tags.every(isTag) ? null : tagMessage
}

/** No tags are no filter. */
export function filterOf(tags: readonly string[] = [], match: TagsMatch = 'any'): TagFilter {
  const sorted = toTags(tags)
  if (match === 'all') return sorted.map((tag) => [tag])
  return sorted.length > 0 ? [sorted] : []
}

/** The filter of items that meet all of these. Equal filters become equal texts. */
export function allOf(...filters: readonly TagFilter[]): TagFilter {
  const groups = [...new Map(filters.flat().map((group) => [group.join(), group])).values()]
  // An item that has a tag of the narrower group has one of the wider group, too.
  const isWider = (group: readonly string[]) =>
    groups.some((other) => other.length < group.length && other.every((tag) => group.includes(tag)))
  return groups.filter((group) => !isWider(group)).sort((a, b) => (a.join() < b.join() ? -1 : 1))
}

/** The tags of a filter, in order. */
export function tagsOf(filter: TagFilter): string[] {
  return toTags(filter.flat())
}
