const encoder = new TextEncoder()

/**
 * A body of `head`, the slices and `tail`. A slice is asked for only when the client has taken the one
 * before, so memory holds one of them whatever the whole weighs.
 */
export function streamOf(
  head: string,
  slices: AsyncIterable<string | Uint8Array>,
  tail: string,
): ReadableStream<Uint8Array> {
  const parts = withEnds(head, slices, tail)
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await parts.next()
        if (done) controller.close()
        else controller.enqueue(typeof value === 'string' ? encoder.encode(value) : value)
      },
      async cancel() {
        await parts.return(undefined)
      },
    },
    { highWaterMark: 0 },
  )
}

async function* withEnds<Part>(head: string, slices: AsyncIterable<Part>, tail: string) {
  yield head
  yield* slices
  yield tail
}
