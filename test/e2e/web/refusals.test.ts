// Refused calls in the interface: a key's page says that its last calls were refused and lists them, and so does the page
// of requests, with those of unknown keys.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { newSecret } from '../../../src/core/secret.ts'
import { until } from '../../support/until.ts'
import { callModel, openSignedInWeb, picture, speakGerman } from '../../support/web/web.ts'
import type { SignedInWeb } from '../../support/web/web.ts'

describe('refused calls', () => {
  let web: SignedInWeb
  let page: Page
  let id = ''

  before(async () => {
    web = await openSignedInWeb()
    page = web.page
    const body = { name: 'poor', models: ['sandbox-chat'], budget: '0.000001' }
    const made = await web.ask('POST', '/keys', { ...body, when_tight: 'refuse' })
    id = String(made['id'])
    await callModel(web.url, newSecret('live'), 'Hello')
    for (let round = 0; round < 30; round++)
      await Promise.all(
        Array.from({ length: 10 }, () => callModel(web.url, String(made['secret']), 'Hello')),
      )
    await until(async () => {
      const { refusals } = await web.ask('GET', `/keys/${id}/refusals`)
      return (refusals as readonly { readonly further: number }[]).some(
        ({ further }) => further === 200,
      )
    })
  })
  after(() => web.close())

  test('the page of a key with 300 refusals says so, and lists them', async () => {
    await web.open(`/settings/api-access/${id}?tab=requests&outcome=refused`)
    await page.getByText('Its last 20 calls were refused.').waitFor()
    const table = page.getByRole('table', { name: 'Refused calls, newest first' })
    await table.getByText('and 200 more within this hour').waitFor()
    await table.getByText('Budget of the key').first().waitFor()
    await page.getByRole('button', { name: 'Load more' }).click()
    await until(async () => (await table.locator('tbody tr').count()) === 100)
  })

  test('the page of requests lists them beside those of unknown keys', async () => {
    await web.open('/settings/requests?outcome=refused')
    await page.getByRole('row', { name: /poor/ }).first().waitFor()
    const last = (await web.ask('GET', '/refusals?code=invalid_api_key'))['refusals']
    assert.equal((last as readonly unknown[]).length, 1)
  })

  test('the overview counts the keys whose calls are refused now, and lists them', async () => {
    await web.ask('POST', '/keys', { name: 'rich', models: ['sandbox-chat'], budget: '1' })
    await web.open('/settings/api-access')
    await page.getByRole('link', { name: 'rich' }).waitFor()
    await page.getByRole('button', { name: /^Refusing now\s*1$/ }).click()
    await page.getByText('Concern: Refusing now').waitFor()
    await page.getByRole('link', { name: 'rich' }).waitFor({ state: 'detached' })
    // Nothing is spent of its budget, which every call would exceed.
    await page
      .getByRole('row', { name: /^Select key poor/ })
      .getByText('Calls refused')
      .waitFor()
  })

  test('reports tell failed from refused', async () => {
    await web.open('/settings/usage')
    await until(async () => {
      await page.reload()
      const tiles = await page.locator('dl').first().innerText()
      return /Refused\s+300\s+100%/.test(tiles) && /Failed\s+0/.test(tiles)
    })
  })

  test('in German, too', async () => {
    await web.open(`/settings/api-access/${id}?tab=requests&outcome=refused`)
    await speakGerman(page)
    await page.getByText('Seine letzten 20 Aufrufe wurden abgelehnt').waitFor()
    await page.getByText('und 200 weitere in dieser Stunde').waitFor()
    await picture(page, 'refusals-german')
  })

  test('there are no browser errors', () => assert.deepEqual(web.complaints, []))
})
