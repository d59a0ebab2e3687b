// Answers every request to a model with the same judgement, after a pause: as fast as a model can be.

const delayMs = Number(process.argv[2] ?? 50)
const judged = { turns: [0], quote: '', rationale: 'It was not said.', result: 'unknown' }
const content = JSON.stringify({ summary: 'A call.', criteria: { greeted: judged, confirmed: judged } })
const body = JSON.stringify({
  choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 2_000, completion_tokens: 60 },
})

const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    await request.arrayBuffer()
    await Bun.sleep(delayMs)
    return new Response(body, { headers: { 'content-type': 'application/json' } })
  },
})
process.stdout.write(`listening on ${server.url.origin}\n`)
