import { setDefaultTimeout, test } from 'bun:test'
import { Chance } from '../../scripts/torture/chance.ts'
import { ofFilesOnly } from '../support/test-mode.ts'
import { check, checkEvents } from './world/checks.ts'
import { restart, steps } from './world/steps.ts'
import { World } from './world/world.ts'

setDefaultTimeout(3_600_000)
// By hand: WORLD_STEPS=5000 WORLD_SEED=7 bun test tests/properties/world.test.ts
const count = Number(process.env.WORLD_STEPS ?? 100)
const seed = Number(process.env.WORLD_SEED ?? 1)

test.skipIf(ofFilesOnly)(
  'whatever is done, everything that is computed from calls and knowledge is what they say',
  async () => {
    const world = new World(new Chance(seed))
    await world.open()
    try {
      for (let done = 0; done < count; done++) {
        await world.chance.oneOf(steps)?.(world)
        if (done % 50 === 49) {
          if (world.chance.happens(0.5)) await restart(world)
          await check(world)
        }
      }
      await checkEvents(world)
    } catch (error) {
      const said = error instanceof Error ? error.message : String(error)
      throw new Error(`With WORLD_SEED=${seed}, after:\n${world.log.slice(-30).join('\n')}\n${said}`, {
        cause: error,
      })
    } finally {
      await world.close()
    }
  },
)
