import { AppError } from '../errors.ts'

/** The same for a call of another project. */
export function callNotFound(): AppError {
  return new AppError('not_found', 'Call not found', {
    detail: 'No call of this project has this id; it may have been deleted.',
  })
}
