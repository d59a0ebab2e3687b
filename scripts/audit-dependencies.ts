import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { auditDependencies } from './audit/dependencies.ts'

// Checks the dependencies offline: exits 1 unless each is exactly the one that was reviewed. For known
// vulnerabilities run `bun audit`, which asks the registry.

const root = fileURLToPath(new URL('..', import.meta.url))
const { faults, licences } = auditDependencies({
  packageJson: readFileSync(`${root}/package.json`, 'utf8'),
  lockfile: readFileSync(`${root}/bun.lock`, 'utf8'),
  folder: `${root}/node_modules`,
})
for (const fault of faults) console.error(fault)
console.info(
  `Licences of all packages: ${licences.map(([licence, count]) => `${count} ${licence}`).join(', ')}`,
)
process.exit(faults.length === 0 ? 0 : 1)
