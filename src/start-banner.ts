import type { FirstStart } from './bootstrap.ts'
import type { Services } from './services.ts'

interface StartBannerOptions {
  services: Pick<Services, 'config' | 'embedder' | 'ownsFolder'>
  first: FirstStart | null
  /** Where the server listens, such as `http://127.0.0.1:3000`. */
  address: string
}

/** What a start prints for people. It holds a secret on the first start, so it never goes through the log. */
export function startBanner({ services, first, address }: StartBannerOptions): string {
  const { config, embedder, ownsFolder } = services
  const publicUrl = config.publicUrl ?? address
  const lines = [
    `Callbook    ${address}`,
    `Docs        ${publicUrl}/docs`,
    `Data        ${config.dataDir}`,
    `Embeddings  texts are sent to ${embedder.destination}`,
  ]
  if (!ownsFolder) lines.push('Note        another process owns this folder; this one saves no index files')
  if (first) {
    lines.push(
      '',
      `Project     ${first.projectName}`,
      `API key     ${first.key}`,
      `Console     ${publicUrl}/console/setup?token=${first.setupToken}`,
      '',
      'The key and the console link are shown this once. Store them now.',
    )
  }
  return `\n${lines.map((line) => (line ? `  ${line}` : line)).join('\n')}\n\n`
}
