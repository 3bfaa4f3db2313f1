// The parts of the key form that the journey does not use: alerts about the budget and reminders of the expiry.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { openSignedInWeb, picture, seriousFindings } from '../../support/web/web.ts'
import type { SignedInWeb } from '../../support/web/web.ts'

describe('the form of a key', () => {
  let web: SignedInWeb
  let page: Page

  before(async () => {
    web = await openSignedInWeb()
    page = web.page
  })
  after(() => web.close())

  const readKey = () => web.ask('GET', `/keys/${/key_\w+/.exec(page.url())?.[0]}`)
  const summary = () => page.getByRole('complementary')
  /** Says in a few words what its fields say, and opens them. */
  const row = (title: string) =>
    page.locator('summary', { has: page.getByRole('heading', { name: title }) })

  test('the default alerts are offered, and the summary shows the chosen ones', async () => {
    await web.open('/settings/api-access/new')
    await page.getByRole('textbox', { name: 'Name' }).fill('told in time')
    await page.getByRole('checkbox', { name: 'sandbox-chat', exact: true }).check()
    await page.getByRole('textbox', { name: 'Budget in USD' }).fill('5')
    await summary().getByText('Alerts at 50%, 80%, and 100%.').waitFor()
    const thresholds = page.getByRole('combobox', { name: 'Alerts, in percent' })
    assert.equal(await thresholds.count(), 0)
    await row('Alerts').click()
    await thresholds.press('Backspace')
    await thresholds.fill('9O')
    await thresholds.press('Enter')
    await page.getByRole('button', { name: 'Create key' }).click()
    await page.getByText('Enter whole numbers from 1 to 1,000').first().waitFor()
    await thresholds.press('Backspace')
    await thresholds.fill('95')
    await thresholds.press('Enter')
    await summary().getByText('Alerts at 50%, 80%, and 95%.').waitFor()
  })

  test('a problem in a folded row is a link that opens it', async () => {
    await page.getByRole('combobox', { name: 'Alerts, in percent' }).blur()
    await row('Limits and permissions').click()
    await page.getByRole('textbox', { name: 'Requests per minute' }).fill('many')
    await row('Limits and permissions').click()
    await page.getByRole('button', { name: 'Create key' }).click()
    await page.getByRole('alert').getByRole('link', { name: 'Requests per minute' }).click()
    const field = page.getByRole('textbox', { name: 'Requests per minute' })
    await page.locator('#field-rpm:focus').waitFor()
    await field.fill('')
  })

  test('the button is in sight however far one scrolls, and all models are one tab stop', async () => {
    await page.setViewportSize({ width: 1440, height: 900 })
    const search = page.getByRole('searchbox', { name: 'Search models' })
    for (const place of [search, summary()]) {
      await place.scrollIntoViewIfNeeded()
      const box = await page.getByRole('button', { name: 'Create key' }).boundingBox()
      assert.ok(box && box.y + box.height <= 900, JSON.stringify(box))
    }
    await page.getByRole('button', { name: /^Choose all/ }).focus()
    const focused = () =>
      page.evaluate<string>(
        'document.activeElement?.ariaLabel ?? document.activeElement?.labels?.[0]?.innerText ?? document.activeElement?.innerText',
      )
    await page.keyboard.press('Tab')
    const first = await focused()
    await page.keyboard.press('ArrowDown')
    const second = await focused()
    assert.notEqual(second, first)
    await page.keyboard.press('Tab')
    assert.match(await focused(), /^Remove /)
    await page.keyboard.press('Shift+Tab')
    assert.equal(await focused(), second)
    await picture(page, 'key-form')
  })

  test('on the narrowest screen a long name leaves its price visible', async () => {
    await page.setViewportSize({ width: 320, height: 700 })
    const row = page.getByRole('listitem').filter({ hasText: 'sandbox-reasoner@responses' })
    await row.scrollIntoViewIfNeeded()
    const list = row.locator('xpath=ancestor::fieldset[1]/..')
    const hidden = await list.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)
    assert.equal(hidden, 0)
    await page.setViewportSize({ width: 1280, height: 720 })
  })

  test('reminders are offered only with an expiry', async () => {
    const reminders = page.getByRole('combobox', { name: 'Reminders' })
    await row('Lifetime').click()
    assert.equal(await reminders.count(), 0)
    await page.getByLabel('Works for').selectOption('90')
    await summary().getByText('Reminders 30 days, 10 days, and 1 day before that.').waitFor()
    await reminders.fill('14')
    await reminders.press('Enter')
    // Its suggestions lie over the buttons of the form until they are closed.
    await reminders.press('Escape')
    await summary()
      .getByText('Reminders 30 days, 14 days, 10 days, and 1 day before that.')
      .waitFor()
    await page.getByText('Nobody gets them yet: there is no destination.').first().waitFor()
    assert.deepEqual(await seriousFindings(page), [])
    await picture(page, 'form-alerts')
    await page.getByRole('button', { name: 'Create key' }).click()
    await page.getByLabel('I have stored the secret').check()
    await page.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('heading', { name: /^told in time/, level: 1 }).waitFor()
    const { alert_thresholds: thresholds, expiry_reminders: days } = await readKey()
    assert.deepEqual(
      [thresholds, days],
      [
        [50, 80, 95],
        [30, 14, 10, 1],
      ],
    )
  })

  test('a change is shown before it is saved, and on the page afterwards', async () => {
    await page.getByRole('link', { name: 'Edit' }).first().click()
    await row('Alerts').getByText('Alerts at 50%, 80%, and 95%.').click()
    await row('Lifetime').click()
    const thresholds = page.getByRole('combobox', { name: 'Alerts, in percent' })
    await thresholds.press('Backspace')
    await thresholds.fill('100')
    await thresholds.press('Enter')
    await page.getByRole('combobox', { name: 'Reminders' }).press('Backspace')
    await page.getByRole('button', { name: 'Review changes' }).click()
    const review = page.getByRole('dialog', { name: 'Save these changes?' })
    await review.getByText('+100%, −95%').waitFor()
    await review.getByText('−1 day').waitFor()
    await review.getByRole('button', { name: 'Save changes' }).click()
    await page.getByRole('tab', { name: 'Settings' }).click()
    await page.getByRole('tabpanel').getByText('50%, 80%, and 100%').waitFor()
    await page.getByText('30 days, 14 days, and 10 days').waitFor()
  })
})
