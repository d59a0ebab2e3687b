import type { Command } from 'commander'
import packageJson from '../../package.json' with { type: 'json' }
import { createLinkToken, hashToken } from '../../src/access/people/token.ts'
import type { Config } from '../../src/config.ts'
import type { BackupManifest } from '../../src/db/backup.ts'
import type { LeftOut } from '../../src/db/restore-erasures.ts'
import { consoleOrigin } from './folder.ts'
import type { AsJson } from './options.ts'
import { counted } from './sentences.ts'
import type { Shell } from './shell.ts'

export function addBackupCommands(program: Command, shell: Shell): void {
  program
    .command('backup')
    .description(
      'Copy a snapshot of the database into a new folder. The service can keep running. The backup contains ' +
        'the secrets of the database and records that you delete later. Keep it as safe as the data.',
    )
    .argument('<folder>', 'new or empty folder, outside DATA_DIR')
    .option('--json', 'print {"folder", …the members of manifest.json}')
    .action(async (folder: string, { json }: AsJson) => {
      const { backUp } = await import('../../src/db/backup.ts')
      const { dataDir, source } = places(shell.loadConfig())
      const { version } = packageJson
      const manifest = await backUp({ source, dataDir, folder, version, now: Date.now, signal: shell.signal })
      await shell.answer(json, { folder, ...manifest }, `Backed up ${contentOf(manifest)} to ${folder}.`)
    })

  program
    .command('restore')
    .description(
      'Restore a backup into a new or empty DATA_DIR. Nothing is ever overwritten. People must sign in ' +
        'again. Indexes are rebuilt from the rows.',
    )
    .argument('<folder>', 'folder that `backup` wrote')
    .option(
      '--erasures <newer>',
      'a later backup of the same service, or its folder: leave out what was erased until then, and take keys, people, ' +
        'roles, sources, webhooks, settings and holds from there',
    )
    .option('--json', 'print {"dataDir","setupLink","leftOut", …the members of manifest.json}')
    .action(async (folder: string, { json, erasures }: { json?: true; erasures?: string }) => {
      const { restore } = await import('../../src/db/backup.ts')
      const { keepReview } = await import('../../src/calls/review/kept-review.ts')
      const config = shell.loadConfig()
      const { dataDir, source: target } = places(config)
      const token = createLinkToken()
      const setupHash = hashToken(token)
      const { signal } = shell
      const given = { folder, target, dataDir, erasures, keepReview, setupHash, signal }
      const { manifest, isSetUp, leftOut } = await restore(given)
      const setupLink = isSetUp ? null : `${consoleOrigin(config)}/console/setup#${token}`
      await shell.answer(json, { dataDir, setupLink, leftOut, ...manifest }, [
        `Restored ${contentOf(manifest)} to ${dataDir}, as of ${manifest.createdAt}.`,
        leftOut
          ? `Left out, because it was erased since: ${leftOutOf(leftOut)}. Keys, people, roles and settings are those of ${erasures}. What was erased after that was made is back.`
          : unknownSince,
        'Earlier invitations and password links no longer work.',
        setupLink
          ? `The console has no owner yet. This link sets it up and is shown only once: ${setupLink}`
          : 'Create new ones: bun callbook person invite, bun callbook person reset EMAIL.',
      ])
    })
}

const unknownSince =
  'A backup cannot know what was deleted, changed or revoked since then. All of it is back: projects, calls, recordings, ' +
  'knowledge, questions, labels and reviews, saved views, people with their roles, passwords and second factors, keys, ' +
  'sources, webhooks, alerts, holds and settings. Delete and revoke it again before others use the service, or restore ' +
  'into another folder with --erasures and a later backup or the old folder.'

function places({ dataDir, databaseFile, databaseSyncUrl }: Config): { dataDir: string; source: string } {
  if (databaseFile !== null && databaseSyncUrl === null) return { dataDir, source: databaseFile }
  throw new Error('The database is on a server: back it up and restore it there.')
}

function leftOutOf({ projects, calls, knowledgeItems, recordings }: LeftOut): string {
  return `${counted(projects, 'project')}, ${counted(calls, 'call')}, ${counted(knowledgeItems, 'knowledge item')} and ${counted(recordings, 'recording')}`
}

function contentOf({ holds }: BackupManifest): string {
  return `${counted(holds.projects, 'project')}, ${counted(holds.calls, 'call')}, ${counted(holds.knowledgeItems, 'knowledge item')} and ${counted(holds.recordings, 'recording')}`
}
