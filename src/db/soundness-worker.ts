import { lowerPriority } from '../threads/priority.ts'
import { serve } from '../threads/serve.ts'
import { findDamage } from './damage.ts'

const niceness = 10

lowerPriority(niceness)

const api = { findDamage }

export type SoundnessApi = typeof api

serve(api)
