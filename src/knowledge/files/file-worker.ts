import { lowerPriority } from '../../threads/priority.ts'
import { serve } from '../../threads/serve.ts'
import { readForm } from './form.ts'
import { readFile } from './read-file.ts'

// Requests are more urgent than files.
lowerPriority(10)

const api = { readFile, readForm }

export type FileApi = typeof api

serve(api)
