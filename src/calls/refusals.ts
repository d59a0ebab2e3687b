import { AppError } from '../errors.ts'

export function callNotFound(): AppError {
  return new AppError('not_found', 'Call not found', {
    detail: 'No call in this project has this id. It may have been deleted.',
  })
}

export function callIsOnHold(): AppError {
  return new AppError('call_on_hold', 'Call is on hold', {
    detail:
      'A legal hold covers the call. It cannot be deleted until an owner of the project lifts the hold.',
  })
}
