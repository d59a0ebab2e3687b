import type { Command } from 'commander'
import packageJson from '../../package.json' with { type: 'json' }
import type { Config } from '../../src/config.ts'
import { createLinkToken, hashLinkToken } from '../../src/console/people/link-token.ts'
import { type BackupManifest, backUp, restore } from '../../src/db/backup.ts'
import { consoleOrigin } from './person.ts'
import { counted } from './sentences.ts'
import type { Shell } from './shell.ts'

export function addBackupCommands(program: Command, shell: Shell): void {
  program
    .command('backup')
    .description(
      'Copy the database, as it is at one moment, into a new folder, while the service runs. It holds what was not ' +
        'deleted then, and the secrets that the service made for itself: keep it as safe as the data.',
    )
    .argument('<folder>', 'new or empty folder, outside DATA_DIR')
    .option('--json', 'print {"folder", …what manifest.json says}')
    .action(async (folder: string, { json }: { json?: true }) => {
      const { dataDir, source } = places(shell.loadConfig())
      const { version } = packageJson
      const manifest = await backUp({ source, dataDir, folder, version, now: Date.now, signal: shell.signal })
      await shell.answer(json, { folder, ...manifest }, `Backed up ${contentOf(manifest)} to ${folder}.`)
    })

  program
    .command('restore')
    .description(
      'Bring a backup up as the database of a new or empty DATA_DIR. Nothing is ever overwritten. People sign in ' +
        'again; indexes are built from the rows.',
    )
    .argument('<folder>', 'folder that `backup` wrote')
    .option('--json', 'print {"dataDir","setupLink", …what manifest.json says}')
    .action(async (folder: string, { json }: { json?: true }) => {
      const config = shell.loadConfig()
      const { dataDir, source: target } = places(config)
      const token = createLinkToken()
      const setupHash = hashLinkToken(token)
      const { signal } = shell
      const { manifest, isSetUp } = await restore({ folder, target, dataDir, setupHash, signal })
      const setupLink = isSetUp ? null : `${consoleOrigin(config)}/console/setup#${token}`
      await shell.answer(json, { dataDir, setupLink, ...manifest }, [
        `Restored ${contentOf(manifest)} to ${dataDir}, as of ${manifest.createdAt}.`,
        'What was deleted or revoked since then is there again: repeat it before you open the service to others.',
        'Invitations and password links made before are dead.',
        setupLink
          ? `Nobody owns the console yet. This link, shown this once, sets it up: ${setupLink}`
          : 'New ones: bun callbook person invite, bun callbook person reset EMAIL.',
      ])
    })
}

function places({ dataDir, databaseFile, databaseSyncUrl }: Config): { dataDir: string; source: string } {
  if (databaseFile !== null && databaseSyncUrl === null) return { dataDir, source: databaseFile }
  throw new Error('The database is on another server: back it up and restore it there.')
}

function contentOf({ holds }: BackupManifest): string {
  const { projects, calls, knowledgeItems } = holds
  return `${counted(projects, 'project')}, ${counted(calls, 'call')} and ${counted(knowledgeItems, 'knowledge item')}`
}
