import packageJson from '../package.json' with { type: 'json' }

/** This version of Callbook (https://semver.org), which the command line, `/ready`, metrics and the API's document name. */
export const { version } = packageJson
