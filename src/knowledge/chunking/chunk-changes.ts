import { type Chunk, embeddedText } from './chunk.ts'

/** An item's name and its stored chunks. */
interface StoredChunks<Stored> {
  name: string
  chunks: readonly Stored[]
}

/** What becomes of an item's chunks when it changes. Both maps are by position in the new text. */
export interface ChunkChanges<Stored> {
  /** Chunks that stay as they are. */
  unchanged: Map<number, Stored>
  /** Chunks that replace others with the same embedded text, and so take over their vectors. */
  alike: Map<number, Stored>
  removed: Stored[]
}

/** Compares the chunks of an item with those of its new name and text. */
export function compareChunks<Stored extends Pick<Chunk, 'heading' | 'text'>>(
  before: StoredChunks<Stored>,
  after: StoredChunks<Chunk>,
): ChunkChanges<Stored> {
  const unchanged = new Map<number, Stored>()
  // The keyword index holds the name with each chunk.
  const free = before.name === after.name ? groupBy(before.chunks, keyOf) : new Map<string, Stored[]>()
  for (const chunk of after.chunks) {
    const same = free.get(keyOf(chunk))?.shift()
    if (same) unchanged.set(chunk.position, same)
  }
  const staying = new Set(unchanged.values())
  const removed = before.chunks.filter((chunk) => !staying.has(chunk))
  const byText = new Map(removed.map((chunk) => [embeddedText(before.name, chunk), chunk]))
  const alike = new Map<number, Stored>()
  for (const chunk of after.chunks) {
    const same = unchanged.has(chunk.position) ? undefined : byText.get(embeddedText(after.name, chunk))
    if (same) alike.set(chunk.position, same)
  }
  return { unchanged, alike, removed }
}

/** `kept`: stays with its vector. `changed`: replaces a chunk under the same heading. */
export type ChunkFate = 'kept' | 'changed' | 'added'

/** What happened to each chunk of the new text, and how many old chunks have no successor. */
export function describeChanges<Stored extends Pick<Chunk, 'heading' | 'text'>>(
  { unchanged, alike, removed }: ChunkChanges<Stored>,
  chunks: readonly Chunk[],
): { fates: ChunkFate[]; removed: number } {
  const reused = new Set(alike.values())
  const removedByHeading = groupBy(
    removed.filter((chunk) => !reused.has(chunk)),
    ({ heading }) => heading ?? '',
  )
  const fates = chunks.map(({ position, heading }): ChunkFate => {
    if (unchanged.has(position) || alike.has(position)) return 'kept'
    return removedByHeading.get(heading ?? '')?.shift() ? 'changed' : 'added'
  })
  return { fates, removed: [...removedByHeading.values()].flat().length }
}

function keyOf({ heading, text }: Pick<Chunk, 'heading' | 'text'>): string {
  return JSON.stringify([heading, text])
}

function groupBy<Value>(values: readonly Value[], key: (value: Value) => string): Map<string, Value[]> {
  const groups = new Map<string, Value[]>()
  for (const value of values) {
    const name = key(value)
    const group = groups.get(name)
    if (group) group.push(value)
    else groups.set(name, [value])
  }
  return groups
}
