// The list of keys and their form: no name is rendered as markup, the state of the list is in the address, many keys are
// changed at once, and two people who edit one key do not overwrite each other.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { openSignedInWeb, picture, seriousFindings } from '../../support/web/web.ts'
import type { SignedInWeb } from '../../support/web/web.ts'

const nasty = [
  '<img src=x onerror="document.title=\'taken\'">',
  '</script><script>document.title="taken"</script>',
  "'; DROP TABLE keys; --",
  '{{constructor.constructor("document.title=1")()}}',
  'javascript:alert(1)',
  'ıİßﬀ Ω≈ç√ 田中さん',
  '&lt;b&gt; &amp;amp; %3Cb%3E',
  `${'averylongnamewithoutanyspace'.repeat(6)}`,
]

describe('the pages of API access', () => {
  let web: SignedInWeb
  let page: Page
  let open: SignedInWeb['open']
  let id = ''

  before(async () => {
    web = await openSignedInWeb()
    ;({ page, open } = web)
    for (const name of nasty) {
      const settings = { name, models: ['sandbox-chat'], budget: '1' }
      id = String((await web.ask('POST', '/keys', settings))['id'])
    }
  })
  after(() => web.close())

  test('a name is shown as text, whatever it looks like', async () => {
    await page.setViewportSize({ width: 1440, height: 900 })
    await open('/settings/api-access')
    const shown = await page.locator('tbody th a').allTextContents()
    assert.deepEqual(shown.toSorted(), nasty.toSorted())
    assert.equal(await page.title(), 'API access · Tollgate')
  })

  test('the state of the list is in the address', async () => {
    await open('/settings/api-access')
    await page.getByRole('button', { name: 'Name', exact: true }).click()
    await page.waitForURL(/sort=name/)
    await page
      .getByRole('columnheader', { name: 'Name' })
      .and(page.locator('[aria-sort]'))
      .waitFor()
    await page.getByRole('searchbox', { name: 'Search keys' }).fill('田中')
    await page.waitForURL(/search=/)
    await page.getByText('1–1 of 1').waitFor()
    await page.reload()
    await page.getByText('1–1 of 1').waitFor()
  })

  test('many keys can be changed at once', async () => {
    await open('/settings/api-access')
    await page.getByRole('checkbox', { name: 'Select all keys of this page' }).check()
    await page.getByRole('button', { name: 'Add models' }).click()
    await page.getByRole('listbox').waitFor()
    assert.deepEqual(await seriousFindings(page), [])
    for (const closed of ['listbox', 'dialog'] as const) {
      await page.keyboard.press('Escape')
      await page.getByRole(closed).waitFor({ state: 'hidden' })
    }
    await page.getByRole('button', { name: 'Pause', exact: true }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Pause', exact: true }).click()
    await page.getByText(`${nasty.length} keys were changed.`).waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click()
    await page.getByText('Paused').first().waitFor()
  })

  test('two people who edit at once do not overwrite each other', async () => {
    await open(`/settings/api-access/${id}/edit`)
    await page.getByRole('textbox', { name: 'Owner' }).fill('ann@example.com')
    const other = await page.context().newPage()
    await other.goto(`${web.url}/settings/api-access/${id}/edit`)
    await other.getByRole('textbox', { name: 'Description' }).fill('changed meanwhile')
    await other.getByRole('button', { name: 'Review changes' }).click()
    await other.getByRole('button', { name: 'Save changes' }).click()
    await other.getByRole('heading', { level: 1 }).waitFor()
    await other.waitForURL(/\/key_\w+$/)
    await other.close()
    await page.getByRole('button', { name: 'Review changes' }).click()
    await page.getByRole('button', { name: 'Save changes' }).click()
    const conflict = page.getByRole('dialog', { name: 'Changed in the meantime' })
    await conflict.getByText('after: changed meanwhile').waitFor()
    assert.deepEqual(await seriousFindings(page), [])
    await picture(page, 'conflict')
    await conflict.getByRole('button', { name: 'Apply mine on top' }).click()
    await page.waitForURL(/\/key_\w+$/)
    await page.getByRole('tab', { name: 'Settings' }).click()
    await page.getByText('ann@example.com').first().waitFor()
    await page.getByText('changed meanwhile').waitFor()
  })

  test('there are no browser errors', () => {
    // The conflicting change is answered with 412, which browsers always log.
    assert.deepEqual(
      web.complaints.filter((text) => !text.includes('status of 412')),
      [],
    )
  })
})
