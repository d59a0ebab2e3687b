import { deletedAnswer, jsonAnswer, keyedAnswers, pathParameter } from '../http/openapi.ts'
import { Alert, AlertList } from './schemas.ts'

// The routes of alerts in the OpenAPI document.

const keyed = { tags: ['Alerts'], security: [{ apiKey: [] }] }
const bodyErrors = ['payload_too_large', 'unsupported_media_type', 'insufficient_storage'] as const
const parameters = [pathParameter('id', 'Of an alert.', 'alr_019a5f0c2b7e7cc0a1d2e3f405162738')]

export const listAlerts = {
  ...keyed,
  operationId: 'listAlerts',
  summary: 'List the alerts',
  description: 'In the order in which they were made, each with its state.',
  responses: keyedAnswers({ 200: jsonAnswer('The alerts.', AlertList) }, []),
}

export const createAlert = {
  ...keyed,
  operationId: 'createAlert',
  summary: 'Create an alert',
  description:
    'A rule about a figure of the calls of the last minutes. It is evaluated once a minute, and each change of its state ' +
    'is sent to its destinations. A project has at most 50.',
  responses: keyedAnswers({ 201: jsonAnswer('The alert.', Alert) }, [...bodyErrors]),
}

export const getAlert = {
  ...keyed,
  parameters,
  operationId: 'getAlert',
  summary: 'Get an alert and its state',
  responses: keyedAnswers({ 200: jsonAnswer('The alert.', Alert) }, ['not_found']),
}

export const putAlert = {
  ...keyed,
  parameters,
  operationId: 'putAlert',
  summary: 'Replace an alert',
  description:
    'What is left out has its default. The state stays until the next evaluation. What was shown of an address or a key ' +
    'keeps it.',
  responses: keyedAnswers({ 200: jsonAnswer('The alert.', Alert) }, ['not_found', ...bodyErrors]),
}

export const deleteAlert = {
  ...keyed,
  parameters,
  operationId: 'deleteAlert',
  summary: 'Delete an alert',
  description: 'What waits to be sent of it is not sent, and what it has sent is not taken back.',
  responses: keyedAnswers({ 200: deletedAnswer('The alert is deleted.') }, [
    'not_found',
    'insufficient_storage',
  ]),
}
