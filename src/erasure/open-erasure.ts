import type { Core } from '../core/core.ts'
import { ballastBytes } from '../db/ballast-file.ts'
import { Erasure, type ErasureParts } from './erasure.ts'
import { ProjectErasure, type ProjectErasureParts } from './project-erasure.ts'
import { Sweeper } from './sweeper.ts'

/** What erases the bytes of what was deleted. */
export function openErasure(
  core: Core,
  { index, removedFiles }: ErasureParts & Omit<ProjectErasureParts, 'erasure'>,
) {
  const { database, config } = core
  const erasure = new Erasure(core, { index, removedFiles })
  const sweeper = new Sweeper(core)
  core.onClose(() => sweeper.close())
  if (database.isLocal) {
    core.onOwn(() => database.keepBallast(ballastBytes(config.callBytesMax)))
    core.onOwn(() => sweeper.start())
  }
  return {
    erasure,
    sweeper,
    projectErasure: new ProjectErasure(core, { erasure, index, removedFiles }),
  }
}
