// The key overview as a workplace: it searches, its rows have menus, and the frame is edited in place.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import {
  callModel,
  choose,
  openSignedInWeb,
  picture,
  seriousFindings,
} from '../../support/web/web.ts'
import type { SignedInWeb } from '../../support/web/web.ts'

describe('the overview of keys', () => {
  let web: SignedInWeb
  let page: Page

  before(async () => {
    web = await openSignedInWeb()
    page = web.page
    for (const name of ['in use', 'forgotten']) {
      const { secret } = await web.ask('POST', '/keys', {
        name,
        models: ['sandbox-chat'],
        budget: '1',
      })
      if (name === 'in use') await callModel(web.url, String(secret), 'Hello')
    }
    // The gateway writes last uses every few seconds, and the page refetches by itself.
    await web.open('/settings/api-access?used=last_30_days')
    await page.getByRole('link', { name: 'in use' }).waitFor()
  })
  after(() => web.close())

  const rows = () => page.locator('tbody th a').allTextContents()

  test('a visit asks for the keys before the scripts are there, and for nothing twice', async () => {
    const visit = await web.context.newPage()
    const asked: string[] = []
    visit.on('request', (request) => asked.push(request.url()))
    const keys = visit.waitForRequest('**/admin/api/v1/keys?*')
    await visit.route('**/assets/base-*.js', async (route) => {
      await keys
      await route.continue()
    })
    await web.open('/settings/api-access', visit)
    await visit.getByRole('link', { name: 'in use' }).waitFor()
    await visit.close()
    assert.equal(new Set(asked).size, asked.length, asked.join('\n'))
    assert.ok(asked.length <= 20, asked.join('\n'))
  })

  test('keys can be filtered by recent use', async () => {
    assert.deepEqual(await rows(), ['in use'])
    await page.getByRole('button', { name: 'Filters', exact: true }).click()
    await page.getByLabel('Used', { exact: true }).selectOption('not in the last 30 days')
    assert.deepEqual(await seriousFindings(page), [])
    await picture(page, 'overview-filters')
    await page.getByRole('button', { name: 'Apply' }).click()
    await page.getByText('Used: not in the last 30 days').waitFor()
    await page.getByRole('link', { name: 'forgotten' }).waitFor()
    assert.deepEqual(await rows(), ['forgotten'])
    await page.getByRole('button', { name: /^Remove filter Used/ }).click()
    await page.getByRole('link', { name: 'in use' }).waitFor()
  })

  test('the menu of a row is visible at every width, and its actions work', async () => {
    for (const width of [1024, 1280, 1920]) {
      await page.setViewportSize({ width, height: 900 })
      const button = page.getByRole('button', { name: 'Actions for forgotten' })
      const box = await button.boundingBox()
      assert.ok(box && box.x + box.width <= width, `it is beyond the edge at ${width} pixels`)
    }
    await choose(page, 'forgotten', 'Copy key id')
    await page.getByText('Copied').waitFor()
    await choose(page, 'forgotten', 'Pause')
    await page.getByRole('dialog').getByRole('button', { name: 'Pause' }).click()
    await page
      .getByRole('row', { name: /forgotten/ })
      .getByText('Paused')
      .waitFor()
    await choose(page, 'forgotten', 'Resume')
    await page
      .getByRole('row', { name: /forgotten/ })
      .getByText('Active')
      .waitFor()
    await choose(page, 'forgotten', 'Rotate secret')
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    await choose(page, 'forgotten', 'New key with these settings')
    await page.getByRole('heading', { name: 'Create key', level: 1 }).waitFor()
    assert.equal(await page.getByRole('textbox', { name: 'Budget in USD' }).inputValue(), '1')
  })

  test('all columns are visible at 1280 pixels, in German too', async () => {
    const context = await web.browser.newContext({
      storageState: await web.context.storageState(),
      viewport: { width: 1280, height: 900 },
      locale: 'de-DE',
    })
    const german = await context.newPage()
    await web.open('/settings/api-access', german)
    await german.getByRole('columnheader', { name: 'Kosten, 7 Tage' }).waitFor()
    const wide = await german
      .getByRole('table')
      .evaluate(({ scrollWidth, parentElement }) => scrollWidth - (parentElement?.clientWidth ?? 0))
    assert.ok(wide <= 0, `${wide} pixels are beyond the edge`)
    await picture(german, 'overview-german')
    await context.close()
  })

  test('a table wider than the screen shows on which side there is more', async () => {
    await page.setViewportSize({ width: 1024, height: 900 })
    await web.open('/settings/api-access')
    const hiding = (side: string) => page.locator(`[data-hidden="${side}"]`).waitFor()
    await hiding('end')
    await page
      .getByRole('table')
      .evaluate(({ parentElement }) => parentElement?.scrollTo({ left: 10_000 }))
    await hiding('start')
    await page.setViewportSize({ width: 1440, height: 900 })
    await hiding('none')
  })

  test('the forecast is for the day of the reset, wherever the reader is', async () => {
    const storageState = await web.context.storageState()
    const context = await web.browser.newContext({
      ...{ locale: 'en-US', timezoneId: 'Pacific/Pago_Pago', storageState },
    })
    const away = await context.newPage()
    await web.open('/settings/api-access', away)
    const resets = await away.getByText(/^Resets /).textContent()
    const forecast = await away.getByText(/^At the current pace/).textContent()
    await context.close()
    assert.equal(
      / by (.+)$/.exec(String(forecast))?.[1],
      /^Resets (.+?, \d+)/.exec(String(resets))?.[1],
    )
  })

  test('the frame can be edited from its card', async () => {
    await web.open('/settings/api-access')
    await page.getByRole('button', { name: 'Edit frame' }).click()
    const dialog = page.getByRole('dialog', { name: 'Edit frame' })
    await dialog.getByLabel('Budget in USD').fill('400')
    assert.deepEqual(await seriousFindings(page), [])
    await dialog.getByRole('button', { name: 'Save changes' }).click()
    await page.getByText(/of \$400\.00 \(/).waitFor()
  })

  test('there are no browser errors', () => assert.deepEqual(web.complaints, []))
})
