import { treaty } from '@elysiajs/eden/treaty2'
import type { ConsoleApi } from '../api-routes.ts'

/** The console's own interface, typed by its routes: a changed route is a type error here. */
export const api = treaty<ConsoleApi>(location.origin).console.api
