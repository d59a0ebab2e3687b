/** The option of commands that are about one project. */
export const projectOption = ['--project <project>', 'id or name of the project'] as const

/** The options of a command that can print JSON. */
export interface AsJson {
  json?: true
}

/** The same of a command that is about one project. */
export interface OfProject extends AsJson {
  project: string
}
