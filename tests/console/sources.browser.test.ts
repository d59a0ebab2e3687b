import { afterEach, describe, expect, test } from 'bun:test'
import type { ServerResponse } from 'node:http'
import { status } from '../recordings/fetching/fake-storage.ts'
import { addSource } from '../sources/deliver.ts'
import { apiKey, pastCalls, startPlatform } from '../sources/history/fake-platforms.ts'
import { apiSecret, tokenOf, uploadOf } from '../sources/otel/livekit-requests.ts'
import { findings } from '../support/accessibility.ts'
import { startConsoleInBrowser } from '../support/console-page.ts'

/** A session of LiveKit Agents that has begun. */
const sessionSpans = {
  resourceSpans: [
    {
      scopeSpans: [
        {
          scope: { name: 'livekit-agents' },
          spans: [
            {
              traceId: '5b8efff798038103d269b633813fc60c',
              spanId: 'eee19b7ec3c1b174',
              name: 'user_turn',
              startTimeUnixNano: '1769851801000000000',
              endTimeUnixNano: '1769851802000000000',
              attributes: [{ key: 'lk.pii.user_transcript', value: { stringValue: 'When do you open?' } }],
            },
          ],
        },
      ],
    },
  ],
}
const env = { WEBHOOK_ALLOW_PRIVATE: '127.0.0.0/8' }
const { service, set, project, tabs } = await startConsoleInBrowser({ env })
const tab = await tabs.show(`/p/${project.id}/settings/integrations`, { person: set.owner })

describe('sources, in a browser', () => {
  afterEach(() => expect(tab.complaints).toEqual([]))

  test('a source is made, its page shows the first event by itself, and one that cannot be read with its field', async () => {
    const { page, follow: open } = tab
    await open(`/p/${project.id}/settings/integrations`)
    await page.getByRole('button', { name: 'Add source' }).first().click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('radio', { name: /Vapi/ }).click()
    expect((await dialog.boundingBox())?.height).toBeLessThan(900)
    await dialog.getByRole('radio', { name: /Dograh/ }).click()
    await dialog.getByRole('checkbox', { name: /Keep your own metadata/ }).check()
    await dialog.getByRole('button', { name: 'Add Dograh' }).click()
    const secret = await dialog.getByLabel('Secret', { exact: true }).inputValue()
    expect(secret).toMatch(/^[0-9a-f]{64}$/)
    const address = (await dialog.locator('pre').textContent()) ?? ''
    expect(address).toMatch(/\/ingest\/from\/src_[0-9a-f]{32}$/)
    await page.keyboard.press('Escape')
    await dialog.getByRole('button', { name: 'I have stored it' }).click()
    await page.getByText('Waiting for the first event').waitFor()
    expect(await service.services.sources.list(project.projectId)).toMatchObject([
      { platform: 'dograh', options: { metadata: 'keep' } },
    ])
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(await page.content()).not.toContain(secret)

    const send = async (body: object) => {
      const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' }
      expect((await fetch(address, { method: 'POST', headers, body: JSON.stringify(body) })).status).toBe(200)
    }
    await send({ id: 'run-1', agent: 'Front desk' })
    await page.getByText('just now').first().waitFor()
    await page.getByText('1 event', { exact: true }).waitFor()
    await send({ id: 'run-2', agent: ['Front desk'] })
    await page.reload()
    await page.getByText('must be a string').waitFor()
    expect(await findings(page)).toEqual([])
    await page.getByRole('button', { name: 'Read again' }).click()
    await page.getByText('No event could be read').waitFor()

    await page.getByRole('link', { name: 'Calls from Dograh' }).click()
    await page.getByRole('button', { name: /Source.*Dograh/ }).waitFor()
    await page.getByText('1 call', { exact: false }).first().waitFor()
  })

  test('a secret that the platform makes is pasted into the page of its source, which is deleted in two clicks', async () => {
    const { page, follow: open } = tab
    await open(`/p/${project.id}/settings/integrations?create=source`)
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('radio', { name: /Synthflow/ }).click()
    await dialog.getByLabel('Name').fill('Night desk')
    await dialog.getByRole('button', { name: 'Add Synthflow' }).click()
    await page.getByText('Needs a secret').waitFor()
    await page.getByLabel('Secret', { exact: true }).fill('two words')
    await page.getByRole('button', { name: 'Save secret' }).click()
    await page.getByText('printable ASCII').waitFor()
    await page.getByLabel('Secret', { exact: true }).fill('synthflow-secret')
    await page.getByRole('button', { name: 'Save secret' }).click()
    await page.getByText('Waiting for the first event').waitFor()
    await page.getByRole('link', { name: 'All integrations' }).click()
    await page.getByRole('table', { name: 'Sources' }).waitFor()
    await page.getByText('Night desk').waitFor()
    await page.getByText('Night desk').click()
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('button', { name: 'Delete source' }).click()
    await page.getByRole('heading', { name: 'Sources' }).waitFor()
    expect(await service.services.sources.list(project.projectId)).toMatchObject([{ platform: 'dograh' }])
  })

  test('recordings are kept from a box in the dialog, with a key that is never shown again', async () => {
    const { page, follow: open } = tab
    await open(`/p/${project.id}/settings/integrations?create=source`)
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('radio', { name: /ElevenLabs/ }).click()
    expect(await dialog.getByLabel('API key').count()).toBe(0)
    await dialog.getByRole('checkbox', { name: 'Keep recordings' }).check()
    await dialog.getByLabel('API key').fill('two words')
    await dialog.getByRole('button', { name: 'Add ElevenLabs' }).click()
    await dialog.getByText('printable ASCII').waitFor()
    await dialog.getByLabel('API key').fill('sk_first')
    await dialog.getByRole('button', { name: 'Add ElevenLabs' }).click()
    await page.getByText('ElevenLabs’s API key: stored.').waitFor()
    expect((await service.services.settingsOf(project.projectId)).recordings).toBe('keep')
    await page.getByRole('button', { name: 'Replace' }).click()
    await page.getByLabel('API key').fill('sk_second')
    await page.getByRole('button', { name: 'Save API key' }).click()
    await page.getByText('API key saved.').waitFor()
    const sources = await service.services.sources.list(project.projectId)
    const { id } = sources.find(({ platform }) => platform === 'elevenlabs') ?? { id: '' }
    expect((await service.services.sources.open(id)).options).toEqual({ apiKey: 'sk_second' })
    expect(await page.content()).not.toContain('sk_')
  })

  test('the past calls of a source are looked at, imported and counted, and a changed schema is told in words', async () => {
    const fake = await startPlatform('retell')
    fake.calls.push(...pastCalls(12, Date.now() - 80 * 86_400_000))
    const [changed] = fake.calls
    if (changed) changed.as = { start_timestamp: 'yesterday' }
    const own = await set.mintProject()
    const { id } = await addSource(service, own, 'retell', { apiKey, host: fake.origin })
    const { page, follow: open } = tab
    await open(`/p/${own.id}/settings/integrations/sources/${id}`)
    const panel = page
      .locator('section')
      .filter({ has: page.getByRole('heading', { name: 'Import history' }) })
    const find = panel.getByRole('button', { name: 'See what there is' })
    fake.fail(/./, status(401), 1)
    await find.click()
    await panel.getByText('Retell refuses the API key (401).').waitFor()
    await find.click()
    await panel.getByText('Retell has 12 calls.').waitFor()
    expect(await findings(page)).toEqual([])
    const isStopped = Promise.withResolvers<void>()
    const answerOnceStopped = async (response: ServerResponse) => {
      await isStopped.promise
      response.writeHead(503).end()
    }
    fake.fail(/./, answerOnceStopped, 1)
    await panel.getByRole('button', { name: 'Import', exact: true }).click()
    await panel.getByText('Importing').waitFor()
    await panel.getByRole('button', { name: 'Stop' }).click()
    isStopped.resolve()
    await panel.getByText('Stopped').waitFor()
    await find.click()
    await panel.getByRole('button', { name: 'Import', exact: true }).click()
    await panel.getByText('Imported').waitFor()
    await panel.getByText('12 calls found').waitFor()
    expect(await panel.locator('dl').textContent()).toEndWith('Not readable1')
    await panel.getByText('call.start_timestamp must be a time (1 call)').waitFor()
    await page.getByRole('combobox', { name: 'Ask Retell for new calls' }).click()
    await page.getByRole('option', { name: 'Every 5 minutes' }).click()
    await page.getByText('Polling changed.').waitFor()
    expect((await service.services.sources.get(own.projectId, id)).poll).toMatchObject({ every: '5m' })
    expect(await findings(page)).toEqual([])
  })

  test('the page of a framework fills a new key into its lines, once, and shows its first call by itself', async () => {
    const { page, follow: open } = tab
    await open(`/p/${project.id}/settings/integrations`)
    await page.getByRole('link', { name: 'LiveKit Agents' }).click()
    await page.getByText('Waiting for the first call').waitFor()
    await page.getByRole('button', { name: 'Create ingest key' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Create key' }).click()
    const key = await dialog.getByLabel('Key', { exact: true }).inputValue()
    expect(key).toStartWith('ck_ingest_')
    expect((await dialog.boundingBox())?.height).toBeLessThan(800)
    // Its last letter does not stand alone on a line.
    const { scrollHeight, lineHeight } = await dialog
      .getByLabel('Key', { exact: true })
      .evaluate((field) => ({
        scrollHeight: field.scrollHeight,
        lineHeight: Number.parseFloat(getComputedStyle(field).lineHeight),
      }))
    expect(scrollHeight).toBeLessThan(2.5 * lineHeight)
    await dialog.getByRole('button', { name: 'I have stored it' }).click()
    await dialog.waitFor({ state: 'detached' })
    const lines = (await page.locator('pre').first().textContent()) ?? ''
    const setting = (name: string) => new RegExp(`^export ${name}=(.*)$`, 'm').exec(lines)?.[1] ?? ''
    expect(lines).toContain(key)

    const [name, value] = setting('OTEL_EXPORTER_OTLP_HEADERS').split('=')
    const answer = await fetch(`${setting('OTEL_EXPORTER_OTLP_ENDPOINT')}/v1/traces`, {
      method: 'POST',
      headers: { [name ?? '']: decodeURIComponent(value ?? ''), 'content-type': 'application/json' },
      body: JSON.stringify(sessionSpans),
    })
    expect(answer.status).toBe(200)
    await page.getByText('1 call', { exact: true }).waitFor()
    await page.getByText('Last call: just now').waitFor()
    await page.getByRole('link', { name: 'Calls from LiveKit Agents' }).click()
    await page.getByRole('button', { name: /Source.*LiveKit Agents/ }).waitFor()
    await page.goBack()
    await page.getByText('Last call: just now').waitFor()
    expect(await page.content()).not.toContain(key)
  })

  test('the page of one’s own code fills a new key into a program that sends a call', async () => {
    const { page, follow: open } = tab
    await open(`/p/${project.id}/settings/integrations`)
    await page.getByRole('link', { name: 'Your own code' }).click()
    await page.getByRole('button', { name: 'Create ingest key' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click()
    await page.getByRole('button', { name: 'I have stored it' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    const [typescript = '', python = ''] = await page.locator('pre').allTextContents()
    const complaintsOf = (...command: string[]) =>
      new Response(Bun.spawn(command, { stderr: 'pipe' }).stderr).text()
    expect(await complaintsOf(process.execPath, '-e', typescript)).toBe('')
    await page.getByText('Last call: just now').waitFor()
    const call = '/v1/calls/call-1'
    expect((await (await project.fetch(call)).json()).transcript).toHaveLength(1)
    expect(await complaintsOf('python3', '-c', python)).toBe('')
    await project.fetch(call, { method: 'DELETE' })
  })

  test('the page of a tool fills a search key into lines that work', async () => {
    const { page, follow: open } = tab
    await open(`/p/${project.id}/settings/integrations/mcp`)
    await page.getByText('"Bearer ck_live_…"').waitFor()
    await page.getByRole('button', { name: 'Create search key' }).click()
    const dialog = page.getByRole('dialog')
    expect(await dialog.getByRole('radio', { name: /^Full/ }).count()).toBe(0)
    await dialog.getByRole('button', { name: 'Create key' }).click()
    await dialog.getByRole('button', { name: 'I have stored it' }).click()
    await dialog.waitFor({ state: 'detached' })
    const { callbook } = JSON.parse(
      (await page.locator('pre', { hasText: 'mcpServers' }).textContent()) ?? '',
    ).mcpServers
    const command = (await page.locator('pre').last().textContent()) ?? ''
    const answer = await new Response(Bun.spawn(['sh', '-c', `${command} -s`]).stdout).json()
    expect(answer.result.isError ?? false).toBe(false)
    expect(callbook.url).toBe(`${service.url}/mcp`)
    expect((await fetch(`${service.url}/v1/calls`, { headers: callbook.headers })).status).toBe(403)
  })

  test('the overview splits the calls by source and agent', async () => {
    const { page, follow: open } = tab
    await open(`/p/${project.id}/overview`)
    await page.getByRole('link', { name: 'Dograh' }).waitFor()
    await page.getByRole('link', { name: 'Front desk' }).waitFor()
  })

  test('agents of LiveKit are shown their variable, and their first session by itself', async () => {
    const { page, follow: open } = tab
    await open(`/p/${project.id}/settings/integrations?create=source`)
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('radio', { name: /LiveKit Agents/ }).click()
    await dialog.getByRole('button', { name: 'Add LiveKit Agents' }).click()
    await dialog.getByText('is required').waitFor()
    await dialog.getByLabel('API key').fill('APItest')
    await dialog.getByRole('button', { name: 'Add LiveKit Agents' }).click()
    await page.getByLabel('Secret', { exact: true }).fill(apiSecret)
    await page.getByRole('button', { name: 'Save secret' }).click()
    await page.getByText('Waiting for the first session').waitFor()
    await page.getByText(`LIVEKIT_OBSERVABILITY_URL=${service.url}`).waitFor()
    const { type, body } = uploadOf()
    const headers = { authorization: `Bearer ${tokenOf()}`, 'content-type': type }
    const answer = await fetch(`${service.url}/observability/recordings/v0`, {
      method: 'POST',
      headers,
      body,
    })
    expect(answer.status).toBe(200)
    await page.getByRole('link', { name: 'Calls from LiveKit Agents' }).click()
    await page
      .getByText(/\d calls?/)
      .first()
      .waitFor()
    const [source] = await service.services.sources.list(project.projectId)
    await service.services.sources.delete(project.projectId, source?.id ?? '')
  })
})
