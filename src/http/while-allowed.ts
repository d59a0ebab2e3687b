/** Checks again whether whoever reads an answer still may. @throws as their first check */
export type Check = () => Promise<unknown>

/** Whoever reads an answer: the caller, or a person in the console. */
export interface Reader {
  readonly projectId: number
  readonly check: Check
}

/** The parts of an answer, with a check before each is sent, since a slow reader may outlast their key or session. */
export async function* whileAllowed<Part>(parts: AsyncIterable<Part>, check: Check): AsyncGenerator<Part> {
  for await (const part of parts) {
    await check()
    yield part
  }
}
