import type { Command } from 'commander'
import packageJson from '../../package.json' with { type: 'json' }
import type { Config } from '../../src/config.ts'
import { createLinkToken, hashToken } from '../../src/console/people/token.ts'
import type { BackupManifest } from '../../src/db/backup.ts'
import { consoleOrigin } from './person.ts'
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
    .action(async (folder: string, { json }: { json?: true }) => {
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
    .option('--json', 'print {"dataDir","setupLink", …the members of manifest.json}')
    .action(async (folder: string, { json }: { json?: true }) => {
      const { restore } = await import('../../src/db/backup.ts')
      const config = shell.loadConfig()
      const { dataDir, source: target } = places(config)
      const token = createLinkToken()
      const setupHash = hashToken(token)
      const { signal } = shell
      const { manifest, isSetUp } = await restore({ folder, target, dataDir, setupHash, signal })
      const setupLink = isSetUp ? null : `${consoleOrigin(config)}/console/setup#${token}`
      await shell.answer(json, { dataDir, setupLink, ...manifest }, [
        `Restored ${contentOf(manifest)} to ${dataDir}, as of ${manifest.createdAt}.`,
        'Everything deleted or revoked since then is back. Delete and revoke it again before others use the service.',
        'Earlier invitations and password links no longer work.',
        setupLink
          ? `The console has no owner yet. This link sets it up and is shown only once: ${setupLink}`
          : 'Create new ones: bun callbook person invite, bun callbook person reset EMAIL.',
      ])
    })
}

function places({ dataDir, databaseFile, databaseSyncUrl }: Config): { dataDir: string; source: string } {
  if (databaseFile !== null && databaseSyncUrl === null) return { dataDir, source: databaseFile }
  throw new Error('The database is on a server: back it up and restore it there.')
}

function contentOf({ holds }: BackupManifest): string {
  const { projects, calls, knowledgeItems } = holds
  return `${counted(projects, 'project')}, ${counted(calls, 'call')} and ${counted(knowledgeItems, 'knowledge item')}`
}
