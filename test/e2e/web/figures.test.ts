// What pages say of figures and secrets that changed: nothing that contradicts itself, or is older than it looks.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { until } from '../../support/until.ts'
import {
  callModel,
  choose,
  openSignedInWeb,
  picture,
  seriousFindings,
} from '../../support/web/web.ts'
import type { SignedInWeb } from '../../support/web/web.ts'

describe('figures', () => {
  let web: SignedInWeb
  let page: Page
  let key: Record<string, unknown>

  before(async () => {
    web = await openSignedInWeb()
    ;({ page } = web)
    const named = { name: 'night job', models: ['sandbox-chat'], budget: '1' }
    key = await web.ask('POST', '/keys', named)
    assert.equal((await callModel(web.url, String(key['secret']), 'Hello')).status, 200)
  })
  after(() => web.close())

  test('figures that cannot be refreshed say since when they are old', async () => {
    await web.open('/settings/api-access')
    const refused = { status: 403, contentType: 'text/html', body: '' }
    await page.route('**/keys?*', (route) => route.fulfill(refused))
    await page.getByRole('button', { name: /^Updated now/ }).click()
    await page.getByText('These figures are out of date').waitFor()
    await page.getByRole('button', { name: /^Out of date: as of / }).waitFor()
    await page.unroute('**/keys?*')
    await page.getByRole('button', { name: /^Out of date/ }).click()
    await page.getByRole('button', { name: /^Updated now/ }).waitFor()
  })

  test('rotating a key again says when its older secret was used', async () => {
    const fresh = await web.ask('POST', '/keys', { name: 'fresh', models: [], budget: '1' })
    for (const { id } of [key, fresh])
      await web.ask('POST', `/keys/${String(id)}/rotate`, { overlap_seconds: 3_600 })
    // Uses are recorded every few seconds.
    await until(async () => {
      const { old_secret: old } = await web.ask('GET', `/keys/${String(key['id'])}`)
      return (old as { readonly last_used_at: string | null }).last_used_at !== null
    })
    await web.open('/settings/api-access')
    await choose(page, 'night job', 'Rotate secret')
    await page.getByText(/It was last used .*\. Programs that still have it fail/).waitFor()
    await page.keyboard.press('Escape')
    await choose(page, 'fresh', 'Rotate secret')
    await page.getByText('No program has used it.').waitFor()
  })

  test('a frame that is used up is not forecast to be', async () => {
    await web.open('/settings/api-access/frame')
    await page.getByText('At the current pace').waitFor()
    await page.getByRole('button', { name: 'Edit frame' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Budget in USD').fill('0.000001')
    await dialog.getByLabel('Type 0.000001 again to confirm').fill('0.000001')
    await dialog.getByRole('button', { name: 'Save changes' }).click()
    await page.getByText('The frame is exhausted').waitFor()
    assert.equal(await page.getByText('At the current pace').count(), 0)
    assert.equal(await page.getByText('Weeks begin on').count(), 0)
    await picture(page, 'frame-exhausted')
  })

  test('an exhausted frame is topped up from its banner', async () => {
    await web.open('/settings/api-access')
    const banner = page.getByRole('main')
    await banner.getByRole('button', { name: 'Raise the frame' }).waitFor()
    await banner.getByRole('button', { name: 'Top up' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Add, in USD').fill('1')
    await dialog.getByLabel('Reason').fill('the night is long')
    await dialog.getByRole('button', { name: 'Top up' }).click()
    await page.getByText('The frame is exhausted').waitFor({ state: 'hidden' })
  })

  test('the frame shows what is left over its period, who spends it in all, and its past', async () => {
    await web.open('/settings/api-access/frame')
    await page.getByRole('img', { name: /^Of \$1.*, .* is left on / }).waitFor()
    await page.getByText(/^Limit of \$1/).waitFor()
    await page.getByRole('row', { name: /^Total/ }).waitFor()
    assert.equal(await page.getByRole('heading', { name: 'Past periods' }).count(), 0)
    await web.ask('POST', '/frame/reset-spend', { reason: 'a new start' })
    await web.open('/settings/api-access/frame')
    const past = page.getByRole('table', { name: 'Past periods' })
    await past.getByRole('row').nth(1).waitFor()
    assert.deepEqual(await seriousFindings(page), [])
    await page.getByText('changed the frame').first().waitFor()
    assert.equal(await page.getByText('frameframe').count(), 0)
    for (const [scheme, width] of [
      ['light', 1440],
      ['dark', 390],
    ] as const) {
      await page.emulateMedia({ colorScheme: scheme })
      await page.setViewportSize({ width, height: 900 })
      await picture(page, `frame-course-${scheme}-${width}`)
    }
    await page.emulateMedia({ colorScheme: 'light' })
    await page.setViewportSize({ width: 1280, height: 900 })
  })
})
