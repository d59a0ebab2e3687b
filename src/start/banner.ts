import type { Services } from '../services/services.ts'
import type { FirstStart } from './bootstrap.ts'

/**
 * What a start prints for people. The first start's text has secrets, so it never goes through the log.
 * @param address where the server listens, such as `http://127.0.0.1:3000`
 */
export function startBanner(
  { config, embedder, ownsFolder }: Pick<Services, 'config' | 'embedder' | 'ownsFolder'>,
  first: FirstStart,
  address: string,
): string {
  const publicUrl = config.publicUrl ?? address
  const lines = [
    `Callbook    ${address}`,
    `Docs        ${publicUrl}/docs`,
    `Data        ${config.dataDir}`,
    `Embeddings  texts are sent to ${embedder.destination}`,
  ]
  if (!ownsFolder) lines.push('Note        another process owns this folder; this one saves no index files')
  const { firstKey, setupToken } = first
  // Otherwise the set-up link is below.
  if (!setupToken) lines.splice(1, 0, `Console     ${publicUrl}/console`)
  const shownOnce = []
  if (firstKey) shownOnce.push(`Project     ${firstKey.projectName}`, `API key     ${firstKey.key}`)
  if (setupToken) shownOnce.push(`Console     ${publicUrl}/console/setup#${setupToken}`)
  if (shownOnce.length > 0) lines.push('', ...shownOnce, '', 'This is shown only once. Store it now.')
  return `\n${lines.map((line) => (line ? `  ${line}` : line)).join('\n')}\n\n`
}
