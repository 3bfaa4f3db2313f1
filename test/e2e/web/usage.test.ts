// The usage page by groups and by what keys have, its filters, and the statement of a group, in a real browser.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { until } from '../../support/until.ts'
import {
  callModel,
  openSignedInWeb,
  picture,
  seriousFindings,
  speakGerman,
} from '../../support/web/web.ts'
import type { SignedInWeb } from '../../support/web/web.ts'

describe('the usage page', () => {
  let web: SignedInWeb
  let page: Page
  let groupId = ''

  before(async () => {
    web = await openSignedInWeb()
    ;({ page } = web)
    const group = await web.ask('POST', '/groups', { name: 'search', budget: '5' })
    groupId = String(group['id'])
    const ofAnn = { group: groupId, owner: 'ann@example.com', environment: 'production' }
    for (const [name, more] of [
      ['shop', { ...ofAnn, tags: ['web', 'eu'] }],
      ['nightly', { tags: ['web'] }],
    ] as const) {
      const settings = { name, models: ['sandbox-chat'], budget: '5', ...more }
      const { secret } = await web.ask('POST', '/keys', settings)
      const answer = await callModel(web.url, String(secret), `Hello from ${name}.`)
      assert.equal(answer.status, 200, await answer.text())
    }
    // How long answers took is written every few seconds.
    await until(async () => {
      const { rows } = await web.ask('GET', '/usage?by=model')
      return (rows as unknown as { latency_ms_p50: number | null }[])[0]?.latency_ms_p50 !== null
    })
  })
  after(() => web.close())

  for (const [by, name] of [
    ['group', 'search'],
    ['owner', 'ann@example.com'],
    ['environment', 'production'],
    ['tag', 'web'],
    ['model', 'sandbox-chat'],
  ] as const)
    test(`it is by ${by}`, async () => {
      await web.follow(`/settings/usage?by=${by}`)
      await page.getByRole('rowheader', { name, exact: true }).waitFor()
    })

  test('rows without a group or an owner say so, and tags that they count twice', async () => {
    await web.follow('/settings/usage?by=group')
    await page.getByRole('rowheader', { name: 'outside groups' }).waitFor()
    await page.getByRole('link', { name: 'search' }).first().waitFor()
    await page.getByLabel('By', { exact: true }).selectOption('Owner')
    await page.getByRole('rowheader', { name: 'no owner' }).waitFor()
    await page.getByLabel('By', { exact: true }).selectOption('Tag')
    await page.getByText('A key with several tags counts in each of them').waitFor()
    await page.getByLabel('By', { exact: true }).selectOption('Model')
    await page.getByRole('columnheader', { name: 'First token, ms (p50 / p95)' }).waitFor()
  })

  test('names and sums lead to what is behind them', async () => {
    await web.follow('/settings/usage?by=environment')
    await page.getByRole('list').getByRole('link', { name: 'production' }).click()
    await page.getByRole('rowheader', { name: 'shop' }).waitFor()
    await page.getByRole('link', { name: 'Failed' }).click()
    await page.getByRole('heading', { name: 'Requests', level: 1 }).waitFor()
    assert.equal(await page.getByLabel('Outcome').inputValue(), 'failed')
    await web.follow('/settings/usage?by=model')
    await page.getByRole('rowheader').getByRole('link', { name: 'sandbox-chat' }).click()
    await page.getByRole('heading', { name: 'Requests', level: 1 }).waitFor()
    assert.equal(new URL(page.url()).searchParams.get('model'), 'sandbox-chat')
  })

  test('models say how their calls went lately', async () => {
    await web.follow('/settings/models')
    const row = page.getByRole('row', { name: /sandbox-chat/ }).first()
    for (const span of ['1 h', '24 h'])
      await row.getByText(new RegExp(`^${span} 100% succeeded · [\\d,]+ ms$`)).waitFor()
    assert.deepEqual(await seriousFindings(page), [])
    await picture(page, 'models-lately')
  })

  test('it shows only what the filters leave, and offers the statement of a chosen group', async () => {
    await web.follow('/settings/usage')
    await page.getByText('Filters', { exact: true }).click()
    await page.getByRole('combobox', { name: 'Owner' }).fill('nobody')
    await page.getByText('No usage in this time').waitFor()
    await page.getByRole('combobox', { name: 'Owner' }).fill('')
    await page.getByRole('rowheader', { name: 'nightly' }).waitFor()
    await page.getByRole('combobox', { name: 'Group' }).selectOption('search')
    await page.getByRole('rowheader', { name: 'nightly' }).waitFor({ state: 'hidden' })
    await page.getByRole('rowheader', { name: 'shop' }).waitFor()
    assert.equal(new URL(page.url()).searchParams.get('group'), groupId)
    const link = page.getByRole('link', { name: 'Statement as a page' })
    const href = (await link.getAttribute('href')) ?? ''
    const answer = await page.request.get(new URL(href, web.url).href)
    assert.equal(answer.status(), 200)
    assert.match(await answer.text(), /<h1>search<\/h1>/)
    assert.deepEqual(await seriousFindings(page), [])
    await picture(page, 'usage-filtered')
    await speakGerman(page)
    await web.follow(`/settings/usage?by=tag&group=${groupId}`)
    await page.getByText('Ein Schlüssel mit mehreren Tags').waitFor()
    await picture(page, 'usage-filtered-german')
  })
})
